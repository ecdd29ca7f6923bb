import Foundation

/// The kind of result of a history request; raw values match Apple's.
public enum NSPersistentHistoryResultType: Int, Sendable {
  /// Whether the request succeeded.
  case statusOnly = 0
  /// IDs of the changed objects.
  case objectIDs = 1
  /// Number of transactions.
  case count = 2
  /// Transactions without their changes.
  case transactionsOnly = 3
  /// Changes without their transactions.
  case changesOnly = 4
  /// Transactions with their changes.
  case transactionsAndChanges = 5
}

/// Reads or deletes the history that stores record with `NSPersistentHistoryTrackingKey`.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`. Not safe to use from several threads at once.
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
///   context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
/// }
/// ```
open class NSPersistentHistoryChangeRequest: NSPersistentStoreRequest {
  enum Place {
    case beginning
    case date(Date)
    case token(NSPersistentHistoryToken)
    case transaction(NSPersistentHistoryTransaction)
  }

  let place: Place
  let isDeletion: Bool
  /// The kind of result; by default transactions with their changes. A deletion always returns its status.
  open var resultType = NSPersistentHistoryResultType.transactionsAndChanges
  /// Restricts the request to transactions or changes that match a predicate; its entity is that of
  /// `NSPersistentHistoryTransaction` or `NSPersistentHistoryChange`.
  ///
  /// Predicates on transactions support author, bundleID, contextName, processID, timestamp, token and
  /// transactionNumber; those on changes changedObjectID, changedEntity (an `NSEntityDescription`, without
  /// its subentities), changedID (the object's primary key), changeType and changeID.
  ///
  /// ```swift
  /// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
  /// if let others = NSPersistentHistoryTransaction.fetchRequest {
  ///   others.predicate = NSPredicate(format: "author != %@", "app")
  ///   request.fetchRequest = others
  /// }
  /// let result = try context.execute(request)
  /// ```
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>?

  init(_ place: Place, isDeletion: Bool) {
    self.place = place
    self.isDeletion = isDeletion
    super.init()
  }

  /// The token at which the request starts, if it was created with one.
  open var token: NSPersistentHistoryToken? {
    switch place {
    case .token(let token): token
    case .transaction(let transaction): transaction.token
    case .beginning, .date: nil
    }
  }

  /// Creates a request for transactions written after a date.
  ///
  /// ```swift
  /// let yesterday = Date(timeIntervalSinceNow: -86_400)
  /// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: yesterday)
  /// request.resultType = .count
  /// let result = try context.execute(request) as? NSPersistentHistoryResult
  /// let saves = result?.result as? Int ?? 0
  /// ```
  open class func fetchHistory(after date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date), isDeletion: false)
  }

  /// Creates a request for transactions after a token; nil for all.
  ///
  /// Executing it throws 134301 if transactions after the token have been deleted from the history, and 134501
  /// if all stores of the token are others than those asked.
  ///
  /// ```swift
  /// do {
  ///   try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken))
  /// } catch let error as CocoaError where error.code.rawValue == NSPersistentHistoryTokenExpiredError {
  ///   context.refreshAllObjects()  // what has come or gone is found by fetching again
  /// }
  /// ```
  open class func fetchHistory(after token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(token.map(Place.token) ?? .beginning, isDeletion: false)
  }

  /// Creates a request for transactions after another one; nil for all.
  open class func fetchHistory(after transaction: NSPersistentHistoryTransaction?)
    -> NSPersistentHistoryChangeRequest
  {
    NSPersistentHistoryChangeRequest(transaction.map(Place.transaction) ?? .beginning, isDeletion: false)
  }

  /// Creates a request for transactions or changes that match a fetch request.
  ///
  /// ```swift
  /// if let search = NSPersistentHistoryChange.fetchRequest {
  ///   search.predicate = NSPredicate(format: "changedEntity == %@", Book.entity())
  ///   let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: search)
  ///   request.resultType = .changesOnly
  /// }
  /// ```
  open class func fetchHistory(withFetch fetchRequest: NSFetchRequest<any NSFetchRequestResult>)
    -> NSPersistentHistoryChangeRequest
  {
    let request = NSPersistentHistoryChangeRequest(.beginning, isDeletion: false)
    request.fetchRequest = fetchRequest
    return request
  }

  /// Creates a request that deletes the transactions written before a date.
  ///
  /// ```swift
  /// let lastWeek = Date(timeIntervalSinceNow: -7 * 86_400)
  /// try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: lastWeek))
  /// ```
  open class func deleteHistory(before date: Date) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(.date(date), isDeletion: true)
  }

  /// Creates a request that deletes the transactions before the token's, which is kept; nil deletes nothing.
  ///
  /// ```swift
  /// try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: lastToken))
  /// ```
  open class func deleteHistory(before token: NSPersistentHistoryToken?) -> NSPersistentHistoryChangeRequest {
    NSPersistentHistoryChangeRequest(token.map(Place.token) ?? .beginning, isDeletion: true)
  }

  /// Creates a request that deletes the transactions before another one, which is kept; nil deletes nothing.
  open class func deleteHistory(before transaction: NSPersistentHistoryTransaction?)
    -> NSPersistentHistoryChangeRequest
  {
    NSPersistentHistoryChangeRequest(transaction.map(Place.transaction) ?? .beginning, isDeletion: true)
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentHistoryChangeRequest(place, isDeletion: isDeletion)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    copy.fetchRequest = fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
    return copy
  }
}

/// The result of a history request.
open class NSPersistentHistoryResult: NSPersistentStoreResult {
  private let _result: Any?
  private let _resultType: NSPersistentHistoryResultType

  /// A `Bool`, `[NSManagedObjectID]`, `Int`, `[NSPersistentHistoryTransaction]` or
  /// `[NSPersistentHistoryChange]`, depending on the result type; oldest first.
  open var result: Any? { _result }
  /// The kind of result requested.
  open var resultType: NSPersistentHistoryResultType { _resultType }

  init(_ result: Any?, _ resultType: NSPersistentHistoryResultType) {
    _result = result
    _resultType = resultType
  }

  /// Creates an empty result, for test doubles.
  public override init() {
    _result = nil
    _resultType = .statusOnly
  }
}
