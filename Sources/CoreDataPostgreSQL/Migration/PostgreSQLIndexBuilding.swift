import CoreDataPostgreSQLBinding
import Dispatch
import Foundation

/// Builds indexes of a store that are not there, while programs read and write its tables.
///
/// A build that ends early leaves an invalid index, which slows writes and serves no query; the next build drops it. One
/// program builds at a time.
struct PostgreSQLIndexBuilding {
  private let _address: PostgreSQLAddress
  private let _connection: PostgreSQLConnection
  private let _observation: PostgreSQLObservation?

  /// - Parameter deadline: When to give up.
  /// - Throws: `PostgreSQLError`.
  init(
    _ address: PostgreSQLAddress, until deadline: PostgreSQLDeadline = .never,
    tellingOf observation: PostgreSQLObservation? = nil
  ) throws {
    _address = address
    _connection = try PostgreSQLConnection(address.settings, prepares: false, until: deadline)
    _connection.deadline = deadline
    _observation = observation
  }

  // MARK: What there is

  /// Indexes with the columns of an expected one: `e` has the number, table, columns and order of each.
  private static let _alike = """
    FROM unnest($2::int8[], $3::text[], $4::text[], $5::text[]) AS e(n, r, k, o) \
    JOIN pg_catalog.pg_class c ON c.relname = e.r AND c.relkind IN ('r', 'p') AND c.relnamespace = \
    (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1::text) \
    JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indpred IS NULL AND i.indexprs IS NULL \
    AND i.indnatts = i.indnkeyatts AND (SELECT pg_catalog.array_agg(x ORDER BY n) FROM \
    pg_catalog.unnest(i.indoption::int2[]) WITH ORDINALITY AS y(x, n)) = e.o::int2[] \
    AND (SELECT pg_catalog.array_agg(a.attname::text ORDER BY y.n) FROM \
    pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS y(x, n) \
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = y.x) = e.k::text[]
    """

  private func _parameters(_ indexes: [PostgreSQLIndex]) -> PostgreSQLParameters {
    var parameters = PostgreSQLParameters()
    parameters.add(_address.schema)
    parameters.add(PostgreSQLArray(indexes.indices.map(Int64.init)))
    for text in [
      { (index: PostgreSQLIndex) in PostgreSQLNames.parts(index.table).name },
      { PostgreSQLNames.list($0.terms.map(\.column)) },
      { "{\($0.terms.map { "\($0.option)" }.joined(separator: ","))}" },
    ] {
      var array = PostgreSQLArray(.textArray, capacity: indexes.count)
      for index in indexes { array.add(text(index)) }
      parameters.add(array)
    }
    return parameters
  }

  /// Returns the indexes that the store does not have, or has not finished.
  func missing(_ indexes: [PostgreSQLIndex]) throws -> [PostgreSQLIndex] {
    let found = try _connection.run(
      "SELECT DISTINCT e.n \(Self._alike) WHERE i.indisvalid AND i.indisready", _parameters(indexes),
      isRepeated: false)
    let present = Set((0..<found.rowCount).map { Int(found.int64($0, 0)) })
    return indexes.indices.filter { !present.contains($0) }.map { indexes[$0] }
  }

  /// Returns the quoted names of indexes like this one whose build has ended early.
  private func _remains(of index: PostgreSQLIndex) throws -> [String] {
    let found = try _connection.run(
      """
      SELECT x.relname::text \(Self._alike) JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid WHERE NOT i.indisvalid \
      AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_stat_progress_create_index p WHERE p.index_relid = x.oid)
      """, _parameters([index]), isRepeated: false)
    let schema = PostgreSQLNames.quoted(_address.schema)
    return (0..<found.rowCount).map { "\(schema).\(PostgreSQLNames.quoted(found.string($0, 0)))" }
  }

  // MARK: Choosing

  /// Bytes of the largest table whose indexes a migration builds in its transaction, while others wait: some 10 ms.
  private static let _largestLocked = 8 << 20

  /// Returns those of a migration's new indexes that are built once it has committed: those of large tables. Those that restrict
  /// what may be saved belong to the migration, and those of partitioned tables cannot be built concurrently.
  static func leftForLater(
    _ indexes: [PostgreSQLIndex], _ connection: PostgreSQLConnection
  ) throws -> [PostgreSQLIndex] {
    let added = indexes.filter { !$0.isUnique }
    var large: [String: Bool] = [:]
    for table in Set(added.map(\.table)) {
      var parameters = PostgreSQLParameters()
      parameters.add(table)
      let found = try connection.run(
        """
        SELECT relkind = 'r' AND pg_catalog.pg_relation_size(oid) > \(Self._largestLocked) FROM pg_catalog.pg_class \
        WHERE oid = $1::text::regclass
        """, parameters, isRepeated: false)
      large[table] = found.int64(0, 0) != 0
    }
    return added.filter { large[$0.table] ?? false }
  }

  // MARK: Building

  /// Builds those of the indexes that are missing, one after the other.
  ///
  /// - Parameters:
  ///   - waits: Whether to wait while another program builds indexes of the store, instead of leaving them to it.
  ///   - begin: Called before each build.
  /// - Throws: `PostgreSQLError`; `PostgreSQLDeadlineError`. The indexes before the one that failed are built.
  func build(
    _ indexes: [PostgreSQLIndex], waits: Bool, _ begin: (PostgreSQLIndex) throws -> Void = { _ in }
  ) throws {
    let claim = try PostgreSQLConnection(_address.settings, prepares: false, until: _connection.deadline)
    claim.deadline = _connection.deadline
    guard try _isClaimed(by: claim, waits: waits) else { return }
    for index in try missing(indexes) {
      for name in try _remains(of: index) {
        try _connection.execute("DROP INDEX CONCURRENTLY IF EXISTS \(name)")
      }
      try begin(index)
      try _build(index)
    }
    try claim.execute("COMMIT")
  }

  /// Keeps other programs from building until the connection's transaction ends.
  private func _isClaimed(by claim: PostgreSQLConnection, waits: Bool) throws -> Bool {
    while try !_tryClaim(claim) {
      try claim.execute("ROLLBACK")
      if !waits { return false }
      if claim.deadline.isPast {
        throw PostgreSQLDeadlineError(
          seconds: claim.deadline.seconds ?? 0, what: "waiting for another program that builds indexes")
      }
      // Not in the server, where the waiting statement's snapshot would hold up the other program's build.
      Thread.sleep(forTimeInterval: 0.2)
    }
    return true
  }

  private func _tryClaim(_ claim: PostgreSQLConnection) throws -> Bool {
    var parameters = PostgreSQLParameters()
    parameters.add("coredata-indexes:" + _address.schema)
    try claim.execute("BEGIN")
    do {
      let found = try claim.run(
        "SELECT pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended($1::text, 0))", parameters,
        isRepeated: false)
      let isClaimed = found.int64(0, 0) != 0
      // Ends the statement's portal, which keeps a snapshot: a build would wait for it.
      try claim.execute("SAVEPOINT claim")
      return isClaimed
    } catch let error as PostgreSQLError where error.isDenied || error.isMissing {
      // A server without advisory locks: two programs may build the same index twice.
      try claim.execute("ROLLBACK")
      try claim.execute("BEGIN")
      return true
    }
  }

  private func _build(_ index: PostgreSQLIndex) throws {
    let start = DispatchTime.now()
    func tell(_ error: (any Error)?) {
      let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
      _observation?.tell(.step, seconds: seconds, error: error) { $0.sql = index.concurrentStatement }
    }
    do {
      try _connection.execute(index.concurrentStatement)
    } catch {
      tell(error)
      throw error
    }
    tell(nil)
  }
}
