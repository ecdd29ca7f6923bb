import Foundation

/// The kind of result of a batch update; raw values match Apple's.
public enum NSBatchUpdateRequestResultType: UInt, Sendable {
  /// Whether the request succeeded.
  case statusOnlyResultType = 0
  /// IDs of the updated objects.
  case updatedObjectIDsResultType = 1
  /// Number of updated objects.
  case updatedObjectsCountResultType = 2
}

/// Sets properties of all objects in a SQLite store that match a predicate, without creating managed objects.
///
/// Runs one UPDATE in one transaction. Nothing is validated: a mandatory attribute can be set to nil. Row
/// versions are incremented, so that contexts with older values detect conflicts when they save.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`, and update contexts with
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
  /// The condition for objects to update; nil for all.
  open var predicate: NSPredicate?
  /// Whether to include objects of subentities.
  open var includesSubentities = true
  /// The kind of result to return.
  open var resultType = NSBatchUpdateRequestResultType.statusOnlyResultType
  /// The new values by property name or `NSPropertyDescription`: constants, or an `NSExpression` computed
  /// from each object's own properties. To-one relationships accept an object or its ID.
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

  /// Creates a request that updates objects of the named entity.
  public convenience init(entityName: String) { self.init(nil, entityName) }

  /// Creates a request that updates objects of an entity.
  public convenience init(entity: NSEntityDescription) { self.init(entity, entity.name ?? "") }

  /// The name of the objects' entity.
  open var entityName: String { _entityName }

  /// The objects' entity. Traps for a request created with a name, where Core Data raises; use `entityName`
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

  /// A `Bool`, `[NSManagedObjectID]` or `Int`, depending on the result type.
  open var result: Any? { _result }
  /// The kind of result requested.
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
