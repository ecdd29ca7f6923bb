import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// History that another store has recorded.
extension SQLiteStoreEngine {
  func appendHistory(_ transactions: [HistoryTransactionRecord]) throws {
    guard let history else { return }
    guard !options.isReadOnly else { throw SQLiteStoreError.readOnly(path: path) }
    try SQLiteStoreError.translating {
      try pool.write { connection in
        try connection.transaction {
          for transaction in transactions {
            let entry = HistoryEntry(history, on: connection, repeating: transaction)
            try entry.begin()
            for change in transaction.changes ?? [] { try entry.record(change) }
            try entry.finish()
          }
        }
      }
      didCommit()
    }
  }
}

extension HistoryEntry {
  /// Records a change with another number.
  func record(_ change: HistoryChangeRecord) throws {
    let number = change.key.space.layout.entityNumber
    let entity = journal.layout.entities[number - 1]
    var columns: [UInt8]?
    if change.kind == .update {
      columns = entity.columns(for: SlotSet(change.slots)) ?? [UInt8](repeating: 0, count: entity.byteCount)
    }
    let tombstone =
      change.tombstone.isEmpty ? [] : entity.preserved.map { Self._cell(change.tombstone[$0] ?? .null) }
    try record(change.kind, change.key.reference, number, columns: columns, tombstone: tombstone)
  }

  private static func _cell(_ value: Value) -> Binding {
    switch value {
    case .int(let number): .int(number)
    case .double(let number): .double(number)
    case .string(let text): .text(text)
    case .data(let data): .blob([UInt8](data))
    case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
    case .decimal(let box): .double((box.decimal as NSDecimalNumber).doubleValue)
    case .transformable(let box): box.data.map { .blob([UInt8]($0)) } ?? .null
    case .null, .reference, .pending, .toMany, .composite: .null
    }
  }
}
