import Foundation

/// What a batch deletion returns; raw values are Apple's.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// Whether the request succeeded.
  case resultTypeStatusOnly = 0
  /// IDs of the objects deleted.
  case resultTypeObjectIDs = 1
  /// How many were deleted.
  case resultTypeCount = 2
}

/// Deletes the objects of a SQLite store that a fetch finds, without making managed objects.
///
/// One transaction. Delete rules are followed: cascade takes the members along (they are among the results),
/// nullify and no action clear what pointed at a deleted object, deny refuses the whole request as long as
/// there are members that are not deleted with it. Nothing else is validated; counts of relationships are not
/// looked at.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`; contexts learn of it by
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. Not safe to use from several threads
/// at once.
///
/// ```swift
/// let unread = NSFetchRequest<Book>(entityName: "Book")
/// unread.predicate = NSPredicate(format: "isRead == NO")
/// let request = NSBatchDeleteRequest(fetchRequest: unread)
/// request.resultType = .resultTypeObjectIDs
/// let result = try context.execute(request) as? NSBatchDeleteResult
/// let ids = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: ids], into: [context])
/// ```
open class NSBatchDeleteRequest: NSPersistentStoreRequest {
  private let _fetch: AnyFetchRequest
  /// What is returned.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

  /// Creates a request to delete what a fetch of any kind finds: its condition, subentities, order, limit and
  /// offset count.
  public init(fetchRequest fetch: AnyFetchRequest) {
    _fetch = fetch
    super.init()
  }

  /// Creates a request to delete objects of one entity.
  ///
  /// Traps when they are of several entities, as Core Data raises.
  ///
  /// ```swift
  /// let ids = author.objectIDs(forRelationshipNamed: "books")
  /// if !ids.isEmpty {
  ///   try context.execute(NSBatchDeleteRequest(objectIDs: ids))
  /// }
  /// ```
  public convenience init(objectIDs objects: [NSManagedObjectID]) {
    let request = NSFetchRequest<any NSFetchRequestResult>()
    if let first = objects.first {
      guard objects.allSatisfy({ $0.entity === first.entity || $0.entity.name == first.entity.name }) else {
        programmerError(
          "a batch deletion by object IDs takes objects of one entity; make one request for each.")
      }
      request.entity = first.entity
    }
    request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [objects])
    self.init(fetchRequest: request)
  }

  /// What is deleted; a copy.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult> {
    let copy = NSFetchRequest<any NSFetchRequestResult>()
    copy.copySettings(from: _fetch)
    return copy
  }

  final var givenFetch: AnyFetchRequest { _fetch }

  open override var requestType: NSPersistentStoreRequestType { .batchDeleteRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSBatchDeleteRequest(fetchRequest: _fetch.copy() as! AnyFetchRequest)
    copy.affectedStores = affectedStores
    copy.resultType = resultType
    return copy
  }
}

/// The result of a batch deletion.
///
/// ```swift
/// let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<Tag>(entityName: "Tag"))
/// request.resultType = .resultTypeCount
/// let result = try context.execute(request) as? NSBatchDeleteResult
/// let deleted = result?.result as? Int ?? 0
/// ```
open class NSBatchDeleteResult: NSPersistentStoreResult {
  private let _result: Any?
  private let _resultType: NSBatchDeleteRequestResultType

  /// A `Bool`, `[NSManagedObjectID]` or `Int`, as the result type says.
  open var result: Any? { _result }
  /// Kind of result that the request asked for.
  open var resultType: NSBatchDeleteRequestResultType { _resultType }

  init(_ result: Any?, _ resultType: NSBatchDeleteRequestResultType) {
    _result = result
    _resultType = resultType
  }

  /// Creates an empty result, for test doubles.
  public override init() {
    _result = nil
    _resultType = .resultTypeStatusOnly
  }
}
