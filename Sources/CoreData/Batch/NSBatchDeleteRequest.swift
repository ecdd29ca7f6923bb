import Foundation

/// The kind of result of a batch deletion; raw values match Apple's.
public enum NSBatchDeleteRequestResultType: UInt, Sendable {
  /// Whether the request succeeded.
  case resultTypeStatusOnly = 0
  /// IDs of the deleted objects.
  case resultTypeObjectIDs = 1
  /// Number of deleted objects.
  case resultTypeCount = 2
}

/// Deletes the objects of a SQLite store that match a fetch, without creating managed objects.
///
/// Runs in one transaction and applies delete rules: cascade also deletes the members (they are among the
/// results), nullify and no action clear references to deleted objects, deny fails the whole request if there
/// are members that are not deleted with it. There is no other validation; minimum counts of relationships
/// are not checked.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`, and update contexts with
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
  /// The kind of result to return.
  open var resultType = NSBatchDeleteRequestResultType.resultTypeStatusOnly

  /// Creates a request that deletes the results of a fetch of any kind. Its predicate, subentities, order,
  /// limit and offset apply.
  public init(fetchRequest fetch: AnyFetchRequest) {
    _fetch = fetch
    super.init()
  }

  /// Creates a request that deletes objects of one entity.
  ///
  /// Traps if they are of several entities, where Core Data raises.
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

  /// A copy of the fetch request whose results are deleted.
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

  /// A `Bool`, `[NSManagedObjectID]` or `Int`, depending on the result type.
  open var result: Any? { _result }
  /// The kind of result requested.
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
