import CoreDataModelSchema

/// What a commit has come to.
package struct SaveOutcome: Sendable {
  /// Rows in which the store itself has computed values: derived attributes, of objects of the save or of
  /// others.
  package var computed: [StoredObject] = []
  /// Number of the transaction in the store's history; nil when it keeps none.
  package var transaction: Int64?

  package init(computed: [StoredObject] = [], transaction: Int64? = nil) {
    self.computed = computed
    self.transaction = transaction
  }
}

/// A transaction of a store's history.
package struct HistoryTransactionRecord: Sendable {
  package let number: Int64
  /// Seconds since 2001-01-01 00:00 UTC.
  package let timestamp: Double
  package let author: String?
  package let contextName: String?
  package let bundleID: String
  package let processID: String
  /// Nil unless they were asked for.
  package var changes: [HistoryChangeRecord]?

  package init(
    number: Int64, timestamp: Double, author: String?, contextName: String?, bundleID: String,
    processID: String, changes: [HistoryChangeRecord]? = nil
  ) {
    self.number = number
    self.timestamp = timestamp
    self.author = author
    self.contextName = contextName
    self.bundleID = bundleID
    self.processID = processID
    self.changes = changes
  }
}

/// A change of one object, as a store's history has it.
package struct HistoryChangeRecord: Sendable {
  package enum Kind: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
  }

  package let number: Int64
  package let kind: Kind
  package let key: ObjectKey
  /// What an update changed.
  package let slots: [Int]
  /// Values of a deleted object that the model wants to be kept, by slot.
  package let tombstone: [Int: Value]

  package init(number: Int64, kind: Kind, key: ObjectKey, slots: [Int], tombstone: [Int: Value]) {
    self.number = number
    self.kind = kind
    self.key = key
    self.slots = slots
    self.tombstone = tombstone
  }
}

/// Which transactions are asked for, oldest first.
package struct HistoryQuery: Sendable {
  /// Later ones than this; 0 for all.
  package var after: Int64 = 0
  /// Later ones than this moment, in seconds since 2001-01-01 00:00 UTC.
  package var afterTime: Double?
  /// No later ones than this; nil for all.
  package var through: Int64?
  /// Most changes that are read of a transaction; nil for all.
  package var changeLimit: Int?
  /// Number of the one change that is read; nil for all.
  package var change: Int64?
  /// Whether changes are read, too.
  package var includesChanges = true
}

/// What of a history is deleted: what comes before a bound, which itself stays, or some transactions.
package enum HistoryBound: Sendable {
  case transaction(Int64)
  /// Transactions by number.
  case transactions([Int64])
  /// Seconds since 2001-01-01 00:00 UTC.
  case time(Double)
}

/// A store that can keep a history of its transactions.
package protocol HistoryKeeping: StoreEngine {
  /// Whether it does.
  var keepsHistory: Bool { get }

  /// Number of the last transaction, 0 if there never was any.
  func lastTransaction() throws -> Int64

  /// Numbers of the oldest and the latest transaction that have not been deleted; nil if there are none.
  func historyRange() throws -> ClosedRange<Int64>?

  /// The transactions asked for that `isWanted` accepts, with those of their changes that `isChangeWanted`
  /// accepts.
  func history(
    _ query: HistoryQuery, isWanted: (HistoryTransactionRecord) throws -> Bool,
    isChangeWanted: (HistoryChangeRecord) throws -> Bool
  ) throws -> [HistoryTransactionRecord]

  /// Deletes the transactions before a bound, or those that it names.
  func deleteHistory(before bound: HistoryBound) throws
}
