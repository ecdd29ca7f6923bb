import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// Which versions of its model a store has had, and which of them may still read and write it.
///
/// Each migration begins an epoch. A version of the model belongs to the epoch that it began; programs with
/// the versions of earlier epochs go on as long as the store allows it, which every save checks.
struct PostgreSQLEpochs: Equatable {
  /// The epoch of the newest version.
  let current: Int64
  /// The first epochs whose programs may write and read.
  let writesFrom: Int64
  let readsFrom: Int64

  static func table(_ schema: String) -> String { "\(PostgreSQLNames.quoted(schema)).\"_epoch\"" }
  static func models(_ schema: String) -> String { "\(PostgreSQLNames.quoted(schema)).\"_model\"" }

  // MARK: Reading

  /// Whether a store has the tables, which an older version of the package has not made.
  static func areThere(_ connection: PostgreSQLConnection, schema: String) throws -> Bool {
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    let found = try connection.run(
      """
      SELECT pg_catalog.count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
      WHERE n.nspname = $1::text AND c.relname IN ('_epoch', '_model', '_type') AND c.relkind IN ('r', 'p')
      """, parameters, isRepeated: false)
    return found.int64(0, 0) == 3
  }

  /// Reads a store's epochs.
  ///
  /// - Throws: `PostgreSQLStoreError.noStore`.
  init(_ connection: PostgreSQLConnection, schema: String) throws {
    let found = try connection.run(
      "SELECT \"current\", \"writes_from\", \"reads_from\" FROM \(Self.table(schema))", isRepeated: false)
    guard found.rowCount == 1 else {
      throw PostgreSQLStoreError.noStore(
        schema: schema, reason: "its table _epoch has \(found.rowCount) rows instead of one")
    }
    current = found.int64(0, 0)
    writesFrom = found.int64(0, 1)
    readsFrom = found.int64(0, 2)
  }

  /// Returns the last epoch of a version of the model; nil for a version that the store has not had.
  ///
  /// - Parameter digest: See `digest(of:)`.
  static func number(of digest: String, _ connection: PostgreSQLConnection, schema: String) throws -> Int64? {
    var parameters = PostgreSQLParameters()
    parameters.add(digest)
    let found = try connection.run(
      "SELECT pg_catalog.max(\"epoch\") FROM \(models(schema)) WHERE \"digest\" = $1::text", parameters,
      isRepeated: false)
    return found.isNull(0, 0) ? nil : found.int64(0, 0)
  }

  /// Returns when an epoch began, and who began it, for messages; nil if that is not known.
  static func beginning(
    of epoch: Int64, _ connection: PostgreSQLConnection, schema: String
  ) throws -> String? {
    var parameters = PostgreSQLParameters()
    parameters.add(epoch)
    let found = try connection.run(
      """
      SELECT pg_catalog.to_char("applied", 'YYYY-MM-DD HH24:MI:SS OF'), "by" FROM \(models(schema)) \
      WHERE "epoch" = $1::int8
      """, parameters, isRepeated: false)
    return found.rowCount == 1 ? "\(found.string(0, 0)) (\(found.string(0, 1)))" : nil
  }

  /// The text by which a store knows a version of a model: a digest of its version hashes.
  static func digest(of model: FrozenModel) -> String { NSManagedObjectModel.digest(model.versionHashes) }

  // MARK: Writing

  /// Returns the statements that begin the first epoch of a new store.
  ///
  /// - Parameters:
  ///   - digest: The digest of the version of the model.
  ///   - content: An expression of the version of the model.
  static func statements(_ schema: String, _ digest: String, content: String) -> [String] {
    let digest = PostgreSQLNames.literal(digest)
    return [
      "INSERT INTO \(table(schema)) (\"current\", \"writes_from\", \"reads_from\") VALUES (1, 1, 1)",
      "INSERT INTO \(models(schema)) (\"epoch\", \"digest\", \"content\") VALUES (1, \(digest), \(content))",
    ]
  }

  /// Begins the next epoch, inside a migration's transaction.
  ///
  /// - Parameters:
  ///   - digest: The digest of the version of the model.
  ///   - content: The version of the model.
  ///   - isBarrier: Whether programs with earlier versions can neither read nor write any more.
  /// - Returns: Its number.
  static func begin(
    _ digest: String, _ content: Data, isBarrier: Bool, _ connection: PostgreSQLConnection, schema: String
  ) throws -> Int64 {
    try _requireEpochs(connection, schema)
    let barrier = isBarrier ? ", \"writes_from\" = \"current\" + 1, \"reads_from\" = \"current\" + 1" : ""
    let found = try connection.run(
      "UPDATE \(table(schema)) SET \"current\" = \"current\" + 1\(barrier) RETURNING \"current\"",
      isRepeated: false)
    let epoch = found.int64(0, 0)
    var parameters = PostgreSQLParameters()
    parameters.add(epoch)
    parameters.add(digest)
    parameters.add(bytes: content)
    try connection.run(
      """
      INSERT INTO \(models(schema)) ("epoch", "digest", "content") VALUES ($1::int8, $2::text, $3::bytea)
      """, parameters, isRepeated: false)
    return epoch
  }

  /// Makes saves of programs built with an older version of the package fail, whose receipts have no epoch.
  private static func _requireEpochs(_ connection: PostgreSQLConnection, _ schema: String) throws {
    let receipt = "\(PostgreSQLNames.quoted(schema)).\"_receipt\""
    var parameters = PostgreSQLParameters()
    parameters.add(receipt)
    let found = try connection.run(
      """
      SELECT pg_catalog.count(*) FROM pg_catalog.pg_attribute \
      WHERE attrelid = $1::text::regclass AND attname = 'epoch' AND atthasdef
      """, parameters, isRepeated: false)
    if found.int64(0, 0) > 0 {
      try connection.execute("ALTER TABLE \(receipt) ALTER COLUMN \"epoch\" DROP DEFAULT")
    }
  }

  /// Ends the epochs before the present one: their programs can neither read nor write any more. Belongs to a transaction that
  /// has begun with `holdSaves`.
  static func endEarlier(_ connection: PostgreSQLConnection, schema: String) throws {
    try _requireEpochs(connection, schema)
    try connection.execute(
      "UPDATE \(table(schema)) SET \"writes_from\" = \"current\", \"reads_from\" = \"current\"")
  }

  /// Waits for the saves in flight, and holds back later ones until the transaction ends. Each begins with a
  /// receipt, and then sees the epoch that the transaction begins. Reads go on.
  static func holdSaves(_ connection: PostgreSQLConnection, schema: String) throws {
    try connection.execute("LOCK TABLE \(PostgreSQLNames.quoted(schema)).\"_receipt\" IN SHARE MODE")
  }
}

/// The epoch of a program's model, which each of its writes carries.
struct PostgreSQLEpoch: Sendable {
  let number: Int64
  let schema: String

  /// The condition under which the store takes a write of this program.
  private var _isAllowed: String {
    "SELECT \"current\" FROM \(PostgreSQLEpochs.table(schema)) WHERE \"writes_from\" <= "
  }

  /// An expression that is NULL once the store no longer takes writes of this program, and tells the server's
  /// triggers which rules it knows; see `PostgreSQLDeletionTriggers`.
  ///
  /// - Parameter parameter: The place of the number, such as `$2`.
  func checked(_ parameter: String) -> String {
    """
    (\(_isAllowed)\(parameter)::int8 AND pg_catalog.set_config('\(PostgreSQLDeletionTriggers.epoch)', \
    \(parameter)::int8::text, true) <> '')
    """
  }

  /// Checks a write without receipt, inside its transaction.
  ///
  /// - Throws: `PostgreSQLStoreError.outdated`.
  func check(on connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add(number)
    let found = try connection.run("\(_isAllowed)$1::int8", parameters)
    if found.rowCount == 0 { throw try outdated(on: connection) }
  }

  /// Returns the error of a program whose version of the model may no longer do something; nil for one that may.
  ///
  /// - Parameter first: The first epoch that may, as `\.writesFrom`.
  func outdated(
    for first: KeyPath<PostgreSQLEpochs, Int64>, on connection: PostgreSQLConnection
  ) throws -> PostgreSQLStoreError? {
    guard try PostgreSQLEpochs.areThere(connection, schema: schema),
      try PostgreSQLEpochs(connection, schema: schema)[keyPath: first] > number
    else { return nil }
    return try outdated(on: connection)
  }

  /// Returns the error of a program whose version of the model may no longer write, or read.
  func outdated(on connection: PostgreSQLConnection) throws -> PostgreSQLStoreError {
    let epochs = try PostgreSQLEpochs(connection, schema: schema)
    return .outdated(
      schema: schema, epoch: number, needed: epochs.writesFrom,
      since: try PostgreSQLEpochs.beginning(of: epochs.writesFrom, connection, schema: schema))
  }
}
