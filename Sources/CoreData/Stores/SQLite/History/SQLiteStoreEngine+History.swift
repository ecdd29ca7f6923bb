import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// The history of the store's transactions.
extension SQLiteStoreEngine: HistoryKeeping {
  var keepsHistory: Bool { history != nil }

  func lastTransaction() throws -> Int64 {
    guard let history else { return 0 }
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        try connection.withStatement(history.highest[HistoryTables.transactionEntity]!) { statement in
          try statement.step() ? max(0, statement.int64(0)) : 0
        }
      }
    }
  }

  func historyRange() throws -> ClosedRange<Int64>? {
    guard history != nil else { return nil }
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        var range: ClosedRange<Int64>?
        // Two queries: SQLite looks up one bound in the index, and scans for both.
        try connection.query(
          "SELECT (SELECT MIN(Z_PK) FROM ATRANSACTION), (SELECT MAX(Z_PK) FROM ATRANSACTION)"
        ) { row in
          if !row.isNull(0) { range = row.int64(0)...row.int64(1) }
        }
        return range
      }
    }
  }

  func history(
    _ query: HistoryQuery, isWanted: (HistoryTransactionRecord) throws -> Bool,
    isChangeWanted: (HistoryChangeRecord) throws -> Bool
  ) throws -> [HistoryTransactionRecord] {
    guard let history else { return [] }
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        var found = try _transactions(query, history, connection).filter(isWanted)
        guard query.includesChanges, let first = found.first, let last = found.last else { return found }
        let places = Dictionary(
          uniqueKeysWithValues: found.enumerated().map { ($0.element.number, $0.offset) })
        for index in found.indices { found[index].changes = [] }
        let tombstones = (0..<history.tables.tombstoneCount).map { ", ZTOMBSTONE\($0)" }.joined()
        let condition = query.change.map { " AND Z_PK = \($0)" } ?? ""
        // A transaction may have millions of changes: read only as many as requested.
        let window = first.number == last.number ? query.changeLimit.map { " LIMIT \($0)" } ?? "" : ""
        try connection.query(
          """
          SELECT Z_PK, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS\(tombstones) FROM ACHANGE \
          WHERE ZTRANSACTIONID >= ? AND ZTRANSACTIONID <= ?\(condition) ORDER BY ZTRANSACTIONID, Z_PK\(window)
          """, [.int(first.number), .int(last.number)]
        ) { row in
          guard let place = places[row.int64(4)], found[place].changes!.count < query.changeLimit ?? .max,
            let change = _change(row, history),
            try isChangeWanted(change)
          else { return }
          found[place].changes!.append(change)
        }
        return found
      }
    }
  }

  private func _transactions(
    _ query: HistoryQuery, _ history: HistoryJournal, _ connection: Connection
  ) throws -> [HistoryTransactionRecord] {
    let columns = HistoryTables.textColumns
    let texts: String
    var joins = ""
    if history.tables.internsStrings {
      texts = columns.indices.map { "IFNULL(s\($0).ZNAME, t.\(columns[$0]))" }.joined(separator: ", ")
      joins = columns.indices.map {
        " LEFT JOIN ATRANSACTIONSTRING s\($0) ON s\($0).Z_PK = t.\(columns[$0])TS"
      }.joined()
    } else {
      texts = columns.map { "t.\($0)" }.joined(separator: ", ")
    }
    var result: [HistoryTransactionRecord] = []
    try connection.query(
      """
      SELECT t.Z_PK, t.ZTIMESTAMP, \(texts) FROM ATRANSACTION t\(joins) \
      WHERE t.Z_PK > ?1 AND t.Z_PK <= ?3 AND (?2 IS NULL OR t.ZTIMESTAMP > ?2) ORDER BY t.Z_PK
      """, [.int(query.after), query.afterTime.map { .double($0) } ?? .null, .int(query.through ?? .max)]
    ) { row in
      func text(_ column: Int32) -> String? { row.isNull(column) ? nil : row.string(column) }
      result.append(
        HistoryTransactionRecord(
          number: row.int64(0), timestamp: row.double(1), author: text(2), contextName: text(4),
          bundleID: text(3) ?? "", processID: text(5) ?? ""))
    }
    return result
  }

  /// Returns the change in the current row; nil for an entity that the model lacks.
  private func _change(_ row: Statement, _ history: HistoryJournal) -> HistoryChangeRecord? {
    guard let number = mapping.numbers.number(forStored: row.int64(2)),
      let kind = HistoryChangeRecord.Kind(rawValue: Int(clamping: row.int64(1)))
    else { return nil }
    let layout = history.layout.entities[number - 1]
    let slots = kind == .update ? row.withBytes(5) { layout.slots(in: $0) } : []
    var tombstone: [Int: Value] = [:]
    if kind == .delete {
      for (index, slot) in layout.preserved.prefix(history.tables.tombstoneCount).enumerated() {
        let type = mapping.layout.layout(numbered: number).slots[slot].type ?? .undefined
        if let value = Self._value(row.value(Int32(6 + index)), type) { tombstone[slot] = value }
      }
    }
    return HistoryChangeRecord(
      number: row.int64(0), kind: kind, key: ObjectKey(space: spaces[number - 1], reference: row.int64(3)),
      slots: slots, tombstone: tombstone)
  }

  /// Returns a preserved cell as the attribute's value; nil without one, and for one of the wrong type.
  private static func _value(_ cell: Binding, _ type: AttributeType) -> Value? {
    switch (cell, type.form) {
    case (.int(let number), .double), (.int(let number), .float), (.int(let number), .date):
      .double(Double(number))
    case (.int(let number), .decimal): .decimal(DecimalBox(Decimal(number)))
    case (.double(let number), .decimal): Decimal(string: number.description).map { .decimal(DecimalBox($0)) }
    case (.int(let number), .integer16), (.int(let number), .integer32), (.int(let number), .integer64),
      (.int(let number), .boolean):
      .int(number)
    case (.double(let number), .double), (.double(let number), .float), (.double(let number), .date):
      .double(number)
    case (.text(let text), .string), (.text(let text), .uri): .string(text)
    case (.blob(let bytes), .uuid) where bytes.count == 16:
      .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case (.blob(let bytes), .binaryData): .data(Data(bytes))
    case (.blob(let bytes), .transformable), (.blob(let bytes), .undefined):
      .transformable(TransformableBox(object: nil, data: Data(bytes)))
    default: nil
    }
  }

  func deleteHistory(before bound: HistoryBound) throws {
    guard let history else { return }
    guard !options.isReadOnly else { throw SQLiteStoreError.readOnly(path: path) }
    let (condition, value): (String, Binding) =
      switch bound {
      case .transaction(let number): ("Z_PK < ?", .int(number))
      case .transactions(let numbers): ("Z_PK IN (SELECT value FROM json_each(?))", .text("\(numbers)"))
      case .time(let seconds): ("ZTIMESTAMP < ?", .double(seconds))
      }
    try SQLiteStoreError.translating {
      try pool.write { connection in
        try connection.transaction {
          try connection.query(
            "DELETE FROM ACHANGE WHERE ZTRANSACTIONID IN (SELECT Z_PK FROM ATRANSACTION WHERE \(condition))",
            [value])
          try connection.query("DELETE FROM ATRANSACTION WHERE \(condition)", [value])
          guard history.tables.internsStrings else { return }
          let used = HistoryTables.textColumns.map {
            "SELECT \($0)TS FROM ATRANSACTION WHERE \($0)TS IS NOT NULL"
          }
          try connection.query(
            "DELETE FROM ATRANSACTIONSTRING WHERE Z_PK NOT IN (\(used.joined(separator: " UNION ")))")
        }
      }
      didCommit()
    }
  }
}
