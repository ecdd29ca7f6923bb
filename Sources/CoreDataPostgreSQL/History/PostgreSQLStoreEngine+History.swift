import CoreData
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// The history of the store's transactions.
extension PostgreSQLStoreEngine: HistoryKeeping {
  private var _s: String { PostgreSQLNames.quoted(address.schema) }

  func lastTransaction() throws -> Int64 {
    guard keepsHistory else { return 0 }
    return try reading("the history") { connection in
      let found = try connection.run("SELECT \"n\" FROM \(_s).\"_history_counter\"")
      return found.rowCount > 0 ? found.int64(0, 0) : 0
    }
  }

  func historyRange() throws -> ClosedRange<Int64>? {
    guard keepsHistory else { return nil }
    return try reading("the history") { connection in
      let found = try connection.run(
        "SELECT pg_catalog.min(\"number\"), pg_catalog.max(\"number\") FROM \(_s).\"_history\"")
      return found.isNull(0, 0) ? nil : found.int64(0, 0)...found.int64(0, 1)
    }
  }

  func history(
    _ query: HistoryQuery, isWanted: (HistoryTransactionRecord) throws -> Bool,
    isChangeWanted: (HistoryChangeRecord) throws -> Bool
  ) throws -> [HistoryTransactionRecord] {
    guard keepsHistory else { return [] }
    return try reading("the history") { connection in
      var found = try _transactions(query, connection).filter(isWanted)
      guard query.includesChanges, let first = found.first, let last = found.last else { return found }
      let places = Dictionary(uniqueKeysWithValues: found.enumerated().map { ($0.element.number, $0.offset) })
      for index in found.indices { found[index].changes = [] }
      var parameters = PostgreSQLParameters()
      parameters.add(first.number)
      parameters.add(last.number)
      // For a single transaction, reads no more changes than requested.
      let limit = first.number == last.number && query.change == nil ? query.changeLimit : nil
      if let limit { parameters.add(Int64(limit)) } else { parameters.add(null: .int8) }
      let rows = try connection.run(
        """
        SELECT "transaction", "number", "kind", "entity", "key", "properties", "tombstone" \
        FROM \(_s)."_history_change" WHERE "transaction" >= $1::int8 AND "transaction" <= $2::int8 \
        ORDER BY "transaction", "number" LIMIT $3::int8
        """, parameters)
      for row in 0..<rows.rowCount {
        guard let place = places[rows.int64(row, 0)], found[place].changes!.count < query.changeLimit ?? .max,
          let change = _change(rows, row), query.change == nil || query.change == change.number,
          try isChangeWanted(change)
        else { continue }
        found[place].changes!.append(change)
      }
      return found
    }
  }

  private func _transactions(
    _ query: HistoryQuery, _ connection: PostgreSQLConnection
  ) throws -> [HistoryTransactionRecord] {
    var parameters = PostgreSQLParameters()
    parameters.add(query.after)
    if let time = query.afterTime { parameters.add(time) } else { parameters.add(null: .float8) }
    parameters.add(query.through ?? .max)
    let found = try connection.run(
      """
      SELECT "number", "time", "author", "context", "bundle", "process" FROM \(_s)."_history" \
      WHERE "number" > $1::int8 AND ($2::float8 IS NULL OR "time" > $2::float8) AND "number" <= $3::int8 ORDER BY "number"
      """, parameters)
    return (0..<found.rowCount).map { row in
      func text(_ column: Int) -> String? { found.isNull(row, column) ? nil : found.string(row, column) }
      return HistoryTransactionRecord(
        number: found.int64(row, 0), timestamp: found.double(row, 1), author: text(2), contextName: text(3),
        bundleID: text(4) ?? "", processID: text(5) ?? "")
    }
  }

  /// Returns a change; nil for an entity that the model does not have.
  private func _change(_ rows: PostgreSQLResult, _ row: Int) -> HistoryChangeRecord? {
    guard let number = mapping.numbers.number(forStored: rows.int64(row, 3)),
      let kind = HistoryChangeRecord.Kind(rawValue: Int(clamping: rows.int64(row, 2)))
    else { return nil }
    let layout = mapping.layout.layout(numbered: number)
    let names = rows.isNull(row, 5) ? [] : rows.string(row, 5).split(separator: ",")
    var tombstone: [Int: Value] = [:]
    if kind == .delete, !rows.isNull(row, 6),
      let list = PropertyList.object(in: Data(rows.bytes(row, 6))) as? [String: Any]
    {
      for (name, kept) in list {
        guard let slot = layout.slot(named: name), let type = layout.slots[slot].type else { continue }
        tombstone[slot] = Self._value(kept, type)
      }
    }
    return HistoryChangeRecord(
      number: rows.int64(row, 1), kind: kind,
      key: ObjectKey(space: spaces[number - 1], reference: rows.int64(row, 4)),
      slots: names.compactMap { layout.slot(named: String($0)) }, tombstone: tombstone)
  }

  /// Returns a preserved value; nil if it does not fit the attribute.
  private static func _value(_ kept: Any, _ type: AttributeType) -> Value? {
    switch type.form {
    case .integer16, .integer32, .integer64, .boolean: (kept as? NSNumber).map { .int($0.int64Value) }
    case .double, .float, .date: (kept as? NSNumber).map { .double($0.doubleValue) }
    case .decimal: (kept as? String).flatMap { Decimal(string: $0) }.map { .decimal(DecimalBox($0)) }
    case .string, .uri: (kept as? String).map { .string($0) }
    case .uuid: (kept as? String).flatMap { UUID(uuidString: $0) }.map { .uuid($0) }
    case .binaryData: (kept as? Data).map { .data($0) }
    case .transformable: (kept as? Data).map { .transformable(TransformableBox(object: nil, data: $0)) }
    case .undefined, .objectID, .composite: nil
    }
  }

  func deleteHistory(before bound: HistoryBound) throws {
    guard keepsHistory else { return }
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    var parameters = PostgreSQLParameters()
    let condition: String
    switch bound {
    case .transaction(let number):
      parameters.add(number)
      condition = "\"number\" < $1::int8"
    case .transactions(let numbers):
      parameters.add("{\(numbers.map(String.init).joined(separator: ","))}")
      condition = "\"number\" = ANY($1::int8[])"
    case .time(let seconds):
      parameters.add(seconds)
      condition = "\"time\" < $1::float8"
    }
    try withConnection("the history") { connection in
      try connection.transaction {
        try epoch.check(on: connection)
        // Changes are deleted along with their transaction.
        _ = try connection.run("DELETE FROM \(_s).\"_history\" WHERE \(condition)", parameters)
      }
    }
  }

  func appendHistory(_ transactions: [HistoryTransactionRecord]) throws {
    guard keepsHistory else { return }
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    try withConnection("the history") { connection in
      try committing(on: connection) {
        for transaction in transactions {
          _ = try PostgreSQLHistoryEntry(self, on: connection, repeating: transaction).finish()
        }
      }
    }
  }
}
