import CoreDataModelSchema

/// The outcome of a commit.
package struct SaveOutcome: Sendable {
  /// Rows with values computed by the store: derived attributes of objects in the save and of others.
  package var computed: [StoredObject] = []
  /// The changes that delete rules made beyond the save.
  package var followed = FollowedRules()
  /// Number of the transaction in the store's history; nil without one.
  package var transaction: Int64?
  /// Rows that the program's own work has written.
  package var overwritten: [ObjectKey] = []
  /// Updates that the store has applied to a newer row than the save's base, with that row.
  package var overtaken: [VersionConflict] = []

  package init(
    computed: [StoredObject] = [], followed: FollowedRules = FollowedRules(), transaction: Int64? = nil
  ) {
    self.computed = computed
    self.followed = followed
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
  /// Nil unless requested.
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

/// A change of one object in a store's history.
package struct HistoryChangeRecord: Sendable {
  package enum Kind: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
  }

  package let number: Int64
  package let kind: Kind
  package let key: ObjectKey
  /// The slots that an update changed.
  package let slots: [Int]
  /// Values of a deleted object that the model preserves, by slot.
  package let tombstone: [Int: Value]

  package init(number: Int64, kind: Kind, key: ObjectKey, slots: [Int], tombstone: [Int: Value]) {
    self.number = number
    self.kind = kind
    self.key = key
    self.slots = slots
    self.tombstone = tombstone
  }
}

/// Selects transactions, oldest first.
package struct HistoryQuery: Sendable {
  /// Only transactions after this number; 0 for all.
  package var after: Int64 = 0
  /// Only transactions after this time, in seconds since 2001-01-01 00:00 UTC.
  package var afterTime: Double?
  /// Only transactions up to this number; nil for all.
  package var through: Int64?
  /// Maximum number of changes to read per transaction; nil for all.
  package var changeLimit: Int?
  /// Number of the only change to read; nil for all.
  package var change: Int64?
  /// Whether to read changes.
  package var includesChanges = true
}

/// The part of a history to delete: everything before a bound (exclusive), or certain transactions.
package enum HistoryBound: Sendable {
  case transaction(Int64)
  /// Transactions by number.
  case transactions([Int64])
  /// Seconds since 2001-01-01 00:00 UTC.
  case time(Double)
}

/// A store that can record a history of its transactions.
package protocol HistoryKeeping: StoreEngine {
  /// Whether the store records history.
  var keepsHistory: Bool { get }

  /// Number of the last transaction; 0 if there never was one.
  func lastTransaction() throws -> Int64

  /// Numbers of the oldest and latest transactions that have not been deleted; nil without any.
  func historyRange() throws -> ClosedRange<Int64>?

  /// Returns the selected transactions that `isWanted` accepts, with those of their changes that
  /// `isChangeWanted` accepts.
  func history(
    _ query: HistoryQuery, isWanted: (HistoryTransactionRecord) throws -> Bool,
    isChangeWanted: (HistoryChangeRecord) throws -> Bool
  ) throws -> [HistoryTransactionRecord]

  /// Deletes the transactions before a bound, or the ones it lists.
  func deleteHistory(before bound: HistoryBound) throws

  /// Adds transactions that another store has recorded, with their numbers, in one database transaction.
  ///
  /// - Parameter transactions: Oldest first, with their changes, after all that the store has. Changes get
  ///   new numbers.
  func appendHistory(_ transactions: [HistoryTransactionRecord]) throws
}
