import Foundation

/// The kind of change of an object; raw values match Apple's.
public enum NSPersistentHistoryChangeType: Int, Sendable {
  /// Inserted.
  case insert = 0
  /// Updated.
  case update = 1
  /// Deleted.
  case delete = 2
}

/// A change of one object in one transaction of a store's history. Immutable.
///
/// ```swift
/// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
/// request.resultType = .changesOnly
/// let result = try context.execute(request) as? NSPersistentHistoryResult
/// for change in result?.result as? [NSPersistentHistoryChange] ?? [] {
///   print(change.changeType, change.changedObjectID, change.updatedProperties?.map(\.name) ?? [])
/// }
/// ```
open class NSPersistentHistoryChange: NSObject, NSCopying {
  /// Nil in a change created by a subclass.
  private let _record: HistoryChangeRecord?
  private let _owner: HistoryTransactionRecord?
  private let _storeID: String
  /// The transaction with this change, while it is alive.
  weak var _transaction: NSPersistentHistoryTransaction?

  init(_ record: HistoryChangeRecord, of owner: HistoryTransactionRecord, storeID: String) {
    _record = record
    var owner = owner
    owner.changes = nil
    _owner = owner
    _storeID = storeID
  }

  /// Creates an empty change, for test doubles.
  public override init() {
    _record = nil
    _owner = nil
    _storeID = ""
  }

  /// The number of the change in its store; later changes have higher numbers.
  open var changeID: Int64 { _record?.number ?? 0 }

  /// ID of the object, which may no longer exist.
  open var changedObjectID: NSManagedObjectID {
    _record.map { NSManagedObjectID($0.key) } ?? NSManagedObjectID()
  }

  /// Kind of change.
  open var changeType: NSPersistentHistoryChangeType {
    NSPersistentHistoryChangeType(rawValue: _record?.kind.rawValue ?? 0)!
  }

  /// Values of a deleted object by name, for attributes with `preservesValueInHistoryOnDeletion`; nil without
  /// any.
  ///
  /// ```swift
  /// let request = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)
  /// request.resultType = .changesOnly
  /// let result = try context.execute(request) as? NSPersistentHistoryResult
  /// let changes = result?.result as? [NSPersistentHistoryChange] ?? []
  /// let deletedISBNs = changes.compactMap { $0.tombstone?["isbn"] as? String }
  /// ```
  open var tombstone: [AnyHashable: Any]? {
    guard let _record else { return nil }
    var result: [AnyHashable: Any] = [:]
    let shape = _record.key.space.entity.shape
    for (slot, value) in _record.tombstone {
      guard let coding = shape.codings[slot], let object = (try? coding.object(from: value)) ?? nil else {
        continue
      }
      result[coding.name] = object
    }
    return result.isEmpty ? nil : result
  }

  /// The transaction of the change; without its list of changes if the original has been released.
  open var transaction: NSPersistentHistoryTransaction? {
    _transaction ?? _owner.map { NSPersistentHistoryTransaction($0, storeID: _storeID) }
  }

  /// The properties that an update changed; nil for insertions and deletions.
  open var updatedProperties: Set<NSPropertyDescription>? {
    guard let _record, _record.kind == .update else { return nil }
    let properties = _record.key.space.entity.shape.properties
    return Set(_record.slots.compactMap { properties[$0] })
  }

  /// Returns this change, which is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  // MARK: Searching

  /// Returns the entity of changes, for a fetch request that searches the history.
  open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
    HistoryField.changeEntity
  }

  /// The entity of changes; nil if no coordinator is in use.
  open class var entityDescription: NSEntityDescription? {
    LoadedModels.models.isEmpty ? nil : HistoryField.changeEntity
  }

  /// A fetch request for changes; nil if no coordinator is in use.
  open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    entityDescription.map { entity in
      let request = NSFetchRequest<any NSFetchRequestResult>()
      request.entity = entity
      return request
    }
  }
}
