import CoreDataModelSchema

/// Who makes a change, as far as the context that makes it knows.
struct ChangeOrigin: Sendable, Hashable {
  /// `transactionAuthor` of the context.
  var author: String?
  /// Name of the context.
  var contextName: String?
}

/// What a commit has come to.
struct SaveOutcome: Sendable {
  /// Rows in which the store itself has computed values: derived attributes, of objects of the save or of
  /// others.
  var computed: [StoredObject] = []
  /// Number of the transaction in the store's history; nil when it keeps none.
  var transaction: Int64?
}

/// A transaction of a store's history.
struct HistoryTransactionRecord: Sendable {
  let number: Int64
  /// Seconds since 2001-01-01 00:00 UTC.
  let timestamp: Double
  let author: String?
  let contextName: String?
  let bundleID: String
  let processID: String
  /// Nil unless they were asked for.
  var changes: [HistoryChangeRecord]?
}

/// A change of one object, as a store's history has it.
struct HistoryChangeRecord: Sendable {
  enum Kind: Int, Sendable {
    case insert = 0
    case update = 1
    case delete = 2
  }

  let number: Int64
  let kind: Kind
  let key: ObjectKey
  /// What an update changed.
  let slots: [Int]
  /// Values of a deleted object that the model wants to be kept, by slot.
  let tombstone: [Int: Value]
}

/// Which transactions are asked for, oldest first.
struct HistoryQuery: Sendable {
  /// Later ones than this; 0 for all.
  var after: Int64 = 0
  /// Later ones than this moment, in seconds since 2001-01-01 00:00 UTC.
  var afterTime: Double?
  /// No later ones than this; nil for all.
  var through: Int64?
  /// Most changes that are read of a transaction; nil for all.
  var changeLimit: Int?
  /// Number of the one change that is read; nil for all.
  var change: Int64?
  /// Whether changes are read, too.
  var includesChanges = true
}

/// Up to where history is deleted; what the bound names stays.
enum HistoryBound: Sendable {
  case transaction(Int64)
  /// Seconds since 2001-01-01 00:00 UTC.
  case time(Double)
}

/// A store that can keep a history of its transactions.
protocol HistoryKeeping: StoreEngine {
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

  /// Deletes the transactions before a bound.
  func deleteHistory(before bound: HistoryBound) throws
}
