import Foundation

/// What a batch update returns; raw values are Apple's.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether the request succeeded.
  case statusOnlyResultType = 0
  /// IDs of the objects updated.
  case updatedObjectIDsResultType = 1
  /// How many were updated.
  case updatedObjectsCountResultType = 2
}

/// Sets properties of all objects in a SQLite store that meet a condition, without making managed objects.
///
/// One UPDATE, one transaction. Nothing is validated: a mandatory attribute can be set to nil. Versions of
/// the rows go up, so that contexts with older values notice when they save.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`; contexts learn of it by
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. Not safe to use from several threads
/// at once.
///
/// ```swift
/// let request = NSBatchUpdateRequest(entityName: "Book")
/// request.predicate = NSPredicate(format: "author.name == %@", "Virginia Woolf")
/// request.propertiesToUpdate = ["isRead": true]
/// request.resultType = .updatedObjectIDsResultType
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// let ids = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context])
/// ```
open class NSBatchUpdateRequest: NSPersistentStoreRequest {
  private let _entityName: String
  private let _entity: NSEntityDescription?
  /// Condition that the objects meet; nil for all.
  open var predicate: NSPredicate?
  /// Whether objects of subentities are updated too.
  open var includesSubentities = true
  /// What is returned.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// What is set, by property name or `NSPropertyDescription`: a value, or an `NSExpression` computed from
  /// each object's own properties. To-one relationships take an object or its ID.
  ///
  /// ```swift
  /// let request = NSBatchUpdateRequest(entityName: "Book")
  /// request.propertiesToUpdate = ["rating": NSExpression(format: "rating * 2"), "author": author.objectID]
  /// ```
  open var propertiesToUpdate: [AnyHashable: Any]?

  private init(_ entity: NSEntityDescription?, _ name: String) {
    _entity = entity
    _entityName = name
    super.init()
  }

  /// Creates a request to update objects of the entity of this name.
  public convenience init(entityName: String) { self.init(nil, entityName) }

  /// Creates a request to update objects of an entity.
  public convenience init(entity: NSEntityDescription) { self.init(entity, entity.name ?? "") }

  /// Name of the entity of the objects.
  open var entityName: String { _entityName }

  /// Entity of the objects. Traps for a request made with a name, as Core Data raises; ask `entityName`
  /// instead.
  open var entity: NSEntityDescription {
    guard let _entity else {
      programmerError(
        "the batch update for '\(_entityName)' was created with a name and has no entity; use entityName.")
    }
    return _entity
  }

  final var givenEntity: NSEntityDescription? { _entity }

  open override var requestType: NSPersistentStoreRequestType { .batchUpdateRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSBatchUpdateRequest(_entity, _entityName)
    copy.affectedStores = affectedStores
    copy.predicate = predicate
    copy.includesSubentities = includesSubentities
    copy.resultType = resultType
    copy.propertiesToUpdate = propertiesToUpdate
    return copy
  }
}

/// The result of a batch update.
///
/// ```swift
/// let request = NSBatchUpdateRequest(entityName: "Book")
/// request.propertiesToUpdate = ["lastOpened": Date()]
/// request.resultType = .updatedObjectsCountResultType
/// let result = try context.execute(request) as? NSBatchUpdateResult
/// let updated = result?.result as? Int ?? 0
/// ```
open class NSBatchUpdateResult: NSPersistentStoreResult {
  private let _result: Any?
  private let _resultType: NSBatchUpdateRequestResultType

  /// A `Bool`, `[NSManagedObjectID]` or `Int`, as the result type says.
  open var result: Any? { _result }
  /// Kind of result that the request asked for.
  open var resultType: NSBatchUpdateRequestResultType { _resultType }

  init(_ result: Any?, _ resultType: NSBatchUpdateRequestResultType) {
    _result = result
    _resultType = resultType
  }

  /// Creates an empty result, for test doubles.
  public override init() {
    _result = nil
    _resultType = .statusOnlyResultType
  }
}
