import CoreData
import CoreDataModelFiles
import CoreDataPostgreSQLBinding
import Foundation

/// Carries a store's history over to another version of its model, inside the migration's transaction.
///
/// The history refers to entities by number, and to properties by name.
struct PostgreSQLHistoryMigration {
  private let _connection: PostgreSQLConnection
  private let _changes: String
  private let _plan: HistoryPlan

  /// - Parameter schema: The quoted name of the store's schema.
  init(_ connection: PostgreSQLConnection, _ schema: String, _ plan: HistoryPlan) {
    _connection = connection
    _changes = "\(schema).\"_history_change\""
    _plan = plan
  }

  func run() throws {
    guard !_plan.entities.isEmpty else { return try _connection.execute("DELETE FROM \(_changes)") }
    let kept = _plan.entities.map { String($0.storedNumber.old) }.joined(separator: ", ")
    try _connection.execute("DELETE FROM \(_changes) WHERE \"entity\" NOT IN (\(kept))")
    let changed = _plan.entities.filter { !$0.keepsNames }
    guard !changed.isEmpty else { return }
    // First the names, while the entities have their old numbers.
    for entity in changed {
      try _renameProperties(of: entity)
      try _renamePreservedValues(of: entity)
    }
    let numbers = changed.map { String($0.storedNumber.old) }.joined(separator: ", ")
    try _connection.execute(
      """
      UPDATE \(_changes) SET "entity" = \(_plan.newNumber(of: "\"entity\"")), \
      "key" = \(_plan.newKey(of: "\"key\"", entity: "\"entity\"")) WHERE "entity" IN (\(numbers))
      """)
  }

  private func _renameProperties(of entity: HistoryPlan.Entity) throws {
    let names = entity.names
    let found = try _connection.run(
      """
      SELECT DISTINCT "properties" FROM \(_changes) \
      WHERE "entity" = \(entity.storedNumber.old) AND "properties" IS NOT NULL
      """, isRepeated: false)
    let before = (0..<found.rowCount).map { found.string($0, 0) }
    guard !before.isEmpty else { return }
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(before))
    parameters.add(
      PostgreSQLArray(
        before.map { list in
          list.split(separator: ",").compactMap { names[String($0)] }.joined(separator: ",")
        }))
    try _connection.run(
      """
      UPDATE \(_changes) AS c SET "properties" = m.n FROM unnest($1::text[], $2::text[]) AS m(o, n) \
      WHERE c."entity" = \(entity.storedNumber.old) AND c."properties" = m.o
      """, parameters, isRepeated: false)
  }

  /// Rows of one statement.
  private static let _portion = 1_000

  private func _renamePreservedValues(of entity: HistoryPlan.Entity) throws {
    let names = entity.names
    var last: (transaction: Int64, number: Int64) = (0, 0)
    while true {
      let found = try _connection.run(
        """
        SELECT "transaction", "number", "tombstone" FROM \(_changes) WHERE "entity" = \(entity.storedNumber.old) \
        AND "tombstone" IS NOT NULL AND ("transaction", "number") > (\(last.transaction), \(last.number)) \
        ORDER BY "transaction", "number" LIMIT \(Self._portion)
        """, isRepeated: false)
      guard found.rowCount > 0 else { return }
      var transactions: [Int64] = [], numbers: [Int64] = []
      var values = PostgreSQLArray(.bytesArray)
      for row in 0..<found.rowCount {
        transactions.append(found.int64(row, 0))
        numbers.append(found.int64(row, 1))
        let kept = PropertyList.object(in: Data(found.bytes(row, 2))) as? [String: Any] ?? [:]
        let renamed = Dictionary(
          kept.compactMap { name, value in names[name].map { ($0, value) } },
          uniquingKeysWith: { first, _ in first })
        let content = try PropertyListSerialization.data(
          fromPropertyList: renamed, format: .binary, options: 0)
        content.withUnsafeBytes { values.add(bytes: $0) }
      }
      var parameters = PostgreSQLParameters()
      parameters.add(PostgreSQLArray(transactions))
      parameters.add(PostgreSQLArray(numbers))
      parameters.add(values)
      try _connection.run(
        """
        UPDATE \(_changes) AS c SET "tombstone" = m.v FROM unnest($1::int8[], $2::int8[], $3::bytea[]) AS m(t, n, v) \
        WHERE c."transaction" = m.t AND c."number" = m.n
        """, parameters, isRepeated: false)
      last = (transactions.last!, numbers.last!)
    }
  }
}
