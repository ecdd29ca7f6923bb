import CoreDataModelSchema
import Foundation

/// A transaction of a store's history.
package struct StoredTransaction: Sendable {
  package let number: Int64
  /// Seconds since 2001-01-01 00:00 UTC.
  package let moment: Double
  package let author: String?
  package let contextName: String?
  package let bundleID: String
  package let processID: String
  package private(set) var changes: [StoredChange]

  /// Returns the transaction with a subset of its changes.
  package func keeping(_ isWanted: (StoredChange) -> Bool) -> StoredTransaction {
    var copy = self
    copy.changes = changes.filter(isWanted)
    return copy
  }
}

/// A change of one object in a store's history.
package struct StoredChange: Sendable {
  package enum Kind: String, Sendable { case insert, update, delete }

  package let kind: Kind
  package let reference: StoredReference
  /// Names of the properties that an update changed.
  package let properties: [String]
  /// Values of a deleted object that the model preserves.
  package let tombstone: [(attribute: AttributeSchema, value: StoredValue)]
}

extension StoreReader {
  /// Returns the transactions of the store's history, oldest first; nil without one.
  ///
  /// - Parameters:
  ///   - moment: Only later transactions, in seconds since 2001-01-01 00:00 UTC.
  ///   - isWanted: Called for each transaction before its changes are read, with an empty list of changes.
  /// - Throws: A Cocoa error.
  package func history(
    after moment: Double?, isWanted: (StoredTransaction) -> Bool
  ) throws -> [StoredTransaction]? {
    guard let engine = try _historyEngine() else { return nil }
    var query = HistoryQuery()
    query.afterTime = moment
    let records = try StoreErrors.translating(url: URL(fileURLWithPath: path)) {
      try engine.history(query, isWanted: { isWanted(_transaction($0)) }, isChangeWanted: { _ in true })
    }
    return records.map(_transaction)
  }

  /// Returns some of the transactions of the store's history, oldest first; empty without one.
  ///
  /// - Parameters:
  ///   - numbers: Numbers of the first and last transaction.
  ///   - changeLimit: Maximum number of changes to read per transaction.
  ///   - change: Number of the only change to read; nil for all.
  /// - Throws: A Cocoa error.
  package func history(
    in numbers: ClosedRange<Int64>, changeLimit: Int? = nil, change: Int64? = nil
  ) throws -> [StoredTransaction] {
    guard let engine = try _historyEngine() else { return [] }
    var query = HistoryQuery()
    // A malicious store may contain any number.
    query.after = max(.min + 1, numbers.lowerBound) - 1
    query.through = numbers.upperBound
    query.changeLimit = changeLimit
    query.change = change
    let records = try StoreErrors.translating(url: URL(fileURLWithPath: path)) {
      try engine.history(query, isWanted: { _ in true }, isChangeWanted: { _ in true })
    }
    return records.map(_transaction)
  }

  private func _historyEngine() throws -> (any HistoryKeeping)? {
    let store = try fetchingContext().persistentStoreCoordinator?.persistentStores.first
    guard let engine = store?.engine as? any HistoryKeeping, engine.keepsHistory else { return nil }
    return engine
  }

  private func _transaction(_ record: HistoryTransactionRecord) -> StoredTransaction {
    StoredTransaction(
      number: record.number, moment: record.timestamp, author: record.author, contextName: record.contextName,
      bundleID: record.bundleID, processID: record.processID, changes: (record.changes ?? []).map(_change))
  }

  private func _change(_ record: HistoryChangeRecord) -> StoredChange {
    let slots = record.key.space.layout.slots
    let kind: StoredChange.Kind =
      switch record.kind {
      case .insert: .insert
      case .update: .update
      case .delete: .delete
      }
    return StoredChange(
      kind: kind, reference: StoredReference(record.key), properties: record.slots.map { slots[$0].name },
      tombstone: record.tombstone.ordered { $0.key < $1.key }.compactMap { slot, value in
        slots[slot].attribute.map { ($0, StoredValue(value, of: $0)) }
      })
  }
}
