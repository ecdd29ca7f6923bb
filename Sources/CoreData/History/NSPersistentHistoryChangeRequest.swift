import Foundation

/// What a history request gives; raw values are Apple's.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether it was done.
  case statusOnly = 0
  /// IDs of the changed objects.
  case objectIDs = 1
  /// Number of transactions.
  case count = 2
  /// Transactions without their changes.
  case transactionsOnly = 3
  /// Changes, without the transactions around them.
  case changesOnly = 4
  /// Transactions with their changes.
  case transactionsAndChanges = 5
}

/// Reads, or deletes, the history that stores keep with `NSPersistentHistoryTrackingKey`.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`. Not safe to use from several threads at once.
public final class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  enum Place {
    case beginning
    case date(Date)
    case token(NSPersistentHistoryToken)
    case transaction(NSPersistentHistoryTransaction)
  }

  let place: Place
  let isDeletion: Bool
  /// What is returned; transactions with their changes unless set. A deletion always returns whether it was
  /// done.
  public var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// Narrows the request to transactions or changes that meet a predicate; its entity is that of
  /// `NSPersistentHistoryTransaction` or `NSPersistentHistoryChange`.
  ///
  /// Predicates on transactions know author, bundleID, contextName, processID, timestamp, token and
  /// transactionNumber; those on changes changedObjectID, changedEntity (an `NSEntityDescription`, without
  /// its subentities), changedID (the object's primary key), changeType and changeID.
  public var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  init(_ place: Place, isDeletion: Bool) {
    self.place = place
    self.isDeletion = isDeletion
    super.init()
  }

  /// Token that the request starts from, if it was made with one.
  public var token: NSPersistentHistoryToken? {
    switch place {
    case .token(let token): token
    case .transaction(let transaction): transaction.token
    case .beginning, .date: nil
    }
  }

  /// A request for transactions written later than a moment.
  public class func fetchHistory(after date: Date) -> Self { Self(.date(date), isDeletion: false) }

  /// A request for transactions after a token; nil for all.
  ///
  /// Executing it throws 134301 when transactions after the token have been deleted from the history, or when
  /// no store has to do with the token.
  public class func fetchHistory(after token: NSPersistentHistoryToken?) -> Self {
    Self(token.map(Place.token) ?? .beginning, isDeletion: false)
  }

  /// A request for transactions after another; nil for all.
  public class func fetchHistory(after transaction: NSPersistentHistoryTransaction?) -> Self {
    Self(transaction.map(Place.transaction) ?? .beginning, isDeletion: false)
  }

  /// A request for transactions, or changes, that a fetch request describes.
  public class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>) -> Self {
    let request = Self(.beginning, isDeletion: false)
    request.fetchRequest = fetchRequest
    return request
  }

  /// A request that deletes the transactions written before a moment.
  public class func deleteHistory(before date: Date) -> Self { Self(.date(date), isDeletion: true) }

  /// A request that deletes the transactions before the token's, which stays; with nil nothing is deleted.
  public class func deleteHistory(before token: NSPersistentHistoryToken?) -> Self {
    Self(token.map(Place.token) ?? .beginning, isDeletion: true)
  }

  /// A request that deletes the transactions before one, which stays; with nil nothing is deleted.
  public class func deleteHistory(before transaction: NSPersistentHistoryTransaction?) -> Self {
    Self(transaction.map(Place.transaction) ?? .beginning, isDeletion: true)
  }

  public override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentHistoryChangeRequest(place, isDeletion: isDeletion)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    copy.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
    return copy
  }
}

/// What a history request gave.
public final class NSPersistentHistoryResult: NSPersistentStoreResult {
  /// A `Bool`, `[NSManagedObjectID]`, `Int`, `[NSPersistentHistoryTransaction]` or
  /// `[NSPersistentHistoryChange]`, as the result type says; the oldest first.
  public let result: Any?
  /// What was asked for.
  public let resultType: NSPersistentHistoryResultType

  init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
    self.result = result
    self.resultType = resultType
  }
}
