import Foundation

/// What a batch insertion returns; raw values are Apple's.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether the request succeeded.
  case statusOnly = 0
  /// IDs of the objects inserted.
  case objectIDs = 1
  /// How many were inserted.
  case count = 2
}

/// Inserts many objects into a SQLite store at once, without making managed objects in a context.
///
/// One transaction: either all rows are written or none. Default values fill what is not given; nothing is
/// validated but that mandatory attributes are not nil. Relationships are left empty. A row that violates a
/// uniqueness constraint fails the request under the error policy; under
/// `NSMergePolicy.mergeByPropertyObjectTrump` and `.overwrite` the stored row takes all its values, defaults
/// included, and under the other policies the row is left out.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`; contexts learn of it by
/// `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`. Not safe to use from several threads
/// at once.
///
/// ```swift
/// let rows = records.map { ["isbn": $0.isbn, "title": $0.title, "pages": $0.pages] as [String: Any] }
/// let request = NSBatchInsertRequest(entityName: "Book", objects: rows)
/// request.resultType = .objectIDs
/// let result = try context.execute(request) as? NSBatchInsertResult
/// let ids = result?.result as? [NSManagedObjectID] ?? []
/// NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [context])
/// ```
open class NSBatchInsertRequest: NSPersistentStoreRequest {
  private let _entityName: String
  private let _entity: NSEntityDescription?
  /// Values by property name, one dictionary for each object.
  open var objectsToInsert: [[String: Any]]?
  /// Called with an empty dictionary for each object to fill it; true when there are no more, and that one is
  /// not inserted.
  ///
  /// The store is in a write transaction during the call: do not save to it here.
  ///
  /// ```swift
  /// let request = NSBatchInsertRequest(entityName: "Book", objects: [])
  /// request.objectsToInsert = nil
  /// var next = records.makeIterator()
  /// request.dictionaryHandler = { row in
  ///   guard let record = next.next() else { return true }
  ///   row["isbn"] = record.isbn
  ///   row["title"] = record.title
  ///   return false
  /// }
  /// ```
  open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?
  /// Called with an object of the entity's class, in no context, for each object to fill it; true when there
  /// are no more, and that one is not inserted.
  ///
  /// The store is in a write transaction during the call: do not save to it here.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?
  /// What is returned.
  open var resultType = NSBatchInsertRequestResultType.statusOnly

  private init(_ entity: NSEntityDescription?, _ name: String) {
    _entity = entity
    _entityName = name
    super.init()
  }

  /// Creates a request without entity, which cannot be executed.
  @available(*, deprecated, message: "Use an initializer with an entity")
  public convenience override init() { self.init(nil, "") }

  /// Creates a request to insert objects given as dictionaries.
  ///
  /// ```swift
  /// let genres = [["name": "essay"], ["name": "drama"]]
  /// try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: genres))
  /// ```
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(nil, entityName)
    objectsToInsert = dictionaries
  }

  /// Creates a request to insert objects given as dictionaries.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity, entity.name ?? "")
    objectsToInsert = dictionaries
  }

  /// Creates a request to insert objects that a closure gives one by one.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity, entity.name ?? "")
    dictionaryHandler = handler
  }

  /// Creates a request to insert objects that a closure gives one by one.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entity, entity.name ?? "")
    managedObjectHandler = handler
  }

  /// Creates a request to insert objects that a closure gives one by one.
  ///
  /// ```swift
  /// var next = records.makeIterator()
  /// let request = NSBatchInsertRequest(entityName: "Book") { row in
  ///   guard let record = next.next() else { return true }
  ///   row.setValuesForKeys(["isbn": record.isbn, "title": record.title])
  ///   return false
  /// }
  /// try context.execute(request)
  /// ```
  public convenience init(
    entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(nil, entityName)
    dictionaryHandler = handler
  }

  /// Creates a request to insert objects that a closure gives one by one.
  public convenience init(
    entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(nil, entityName)
    managedObjectHandler = handler
  }

  /// Name of the entity of the objects.
  open var entityName: String { _entityName }

  /// Entity of the objects; nil for a request made with a name.
  open var entity: NSEntityDescription? { _entity }

  open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSBatchInsertRequest(_entity, _entityName)
    copy.affectedStores = affectedStores
    copy.objectsToInsert = objectsToInsert
    copy.dictionaryHandler = dictionaryHandler
    copy.managedObjectHandler = managedObjectHandler
    copy.resultType = resultType
    return copy
  }
}

/// The result of a batch insertion.
///
/// ```swift
/// let request = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "novel"], ["name": "poetry"]])
/// request.resultType = .count
/// let result = try context.execute(request) as? NSBatchInsertResult
/// let inserted = result?.result as? Int ?? 0
/// ```
open class NSBatchInsertResult: NSPersistentStoreResult {
  private let _result: Any?
  private let _resultType: NSBatchInsertRequestResultType

  /// A `Bool`, `[NSManagedObjectID]` or `Int`, as the result type says.
  open var result: Any? { _result }
  /// Kind of result that the request asked for.
  open var resultType: NSBatchInsertRequestResultType { _resultType }

  init(_ result: Any?, _ resultType: NSBatchInsertRequestResultType) {
    _result = result
    _resultType = resultType
  }

  /// Creates an empty result, for test doubles.
  public override init() {
    _result = nil
    _resultType = .statusOnly
  }
}
