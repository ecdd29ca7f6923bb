import Foundation

/// A save or batch request in a store's history. Immutable.
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
///   print(transaction.timestamp, transaction.author ?? "unknown", transaction.changes?.count ?? 0)
/// }
/// ```
open class NSPersistentHistoryTransaction: NSObject, NSCopying {
  private let _record: HistoryTransactionRecord
  private let _changes: [NSPersistentHistoryChange]?
  private let _storeID: String

  init(_ record: HistoryTransactionRecord, storeID: String) {
    _record = record
    _storeID = storeID
    _changes = record.changes?.map { NSPersistentHistoryChange($0, of: record, storeID: storeID) }
    super.init()
    for change in _changes ?? [] { change._transaction = self }
  }

  /// Creates an empty transaction, for test doubles.
  public override init() {
    _record = HistoryTransactionRecord(
      number: 0, timestamp: 0, author: nil, contextName: nil, bundleID: "", processID: "", changes: nil)
    _storeID = ""
    _changes = nil
    super.init()
  }

  /// UUID of the store.
  open var storeID: String { _storeID }

  /// The time when the transaction was written.
  open var timestamp: Date { Date(timeIntervalSinceReferenceDate: _record.timestamp) }

  /// The changes: insertions, updates, then deletions; nil unless requested.
  open var changes: [NSPersistentHistoryChange]? { _changes }

  /// The number of the transaction in its store; later transactions have higher numbers.
  open var transactionNumber: Int64 { _record.number }

  /// Bundle identifier or name of the program that wrote the transaction.
  open var bundleID: String { _record.bundleID }

  /// Name of the process that wrote the transaction.
  open var processID: String { _record.processID }

  /// Name of the context that wrote the transaction.
  open var contextName: String? { _record.contextName }

  /// `transactionAuthor` of the context that wrote the transaction.
  open var author: String? { _record.author }

  /// The position in the history right after this transaction.
  open var token: NSPersistentHistoryToken { NSPersistentHistoryToken([storeID: _record.number]) }

  /// Returns the changes as a notification for `mergeChanges(fromContextDidSave:)`, with sets of object IDs.
  ///
  /// ```swift
  /// func merge(_ transaction: NSPersistentHistoryTransaction) {
  ///   guard transaction.author != context.transactionAuthor else { return }
  ///   context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
  /// }
  /// ```
  open func objectIDNotification() -> Notification {
    var inserted = Set<NSManagedObjectID>()
    var updated = Set<NSManagedObjectID>()
    var deleted = Set<NSManagedObjectID>()
    for change in changes ?? [] {
      switch change.changeType {
      case .insert: inserted.insert(change.changedObjectID)
      case .update: updated.insert(change.changedObjectID)
      case .delete: deleted.insert(change.changedObjectID)
      }
    }
    var userInfo: [AnyHashable: Any] = [:]
    if !inserted.isEmpty { userInfo[NSInsertedObjectIDsKey] = inserted }
    if !updated.isEmpty { userInfo[NSUpdatedObjectIDsKey] = updated }
    if !deleted.isEmpty { userInfo[NSDeletedObjectIDsKey] = deleted }
    return Notification(name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: userInfo)
  }

  /// Returns this transaction, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// Transactions are equal if they have the same number in the same store.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPersistentHistoryTransaction else { return false }
    return other.storeID == storeID && other.transactionNumber == transactionNumber
  }

  open override var hash: Int { transactionNumber.hashValue }

  // MARK: Searching

  /// Returns the entity of transactions, for a fetch request that searches the history.
  open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    HistoryField.transactionEntity
  }

  /// The entity of transactions; nil if no coordinator is in use.
  open class var entityDescription: NSEntityDescription? {
    LoadedModels.models.isEmpty ? nil : HistoryField.transactionEntity
  }

  /// A fetch request for transactions; nil if no coordinator is in use.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    entityDescription.map { entity in
      let request = NSFetchRequest<any NSFetchRequestResult>()
      request.entity = entity
      return request
    }
  }
}
