import Foundation

/// The kind of result of a batch insertion; raw values match Apple's.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
  /// Whether the request succeeded.
  case statusOnly = 0
  /// IDs of the inserted objects.
  case objectIDs = 1
  /// Number of inserted objects.
  case count = 2
}

/// Inserts many objects into a SQLite store at once, without creating managed objects in a context.
///
/// Runs in one transaction: either all rows are written or none. Omitted properties get their default values;
/// the only validation is that mandatory attributes are not nil. Relationships remain empty. If a row
/// violates a uniqueness constraint, the request fails under the error policy; under
/// `NSMergePolicy.mergeByPropertyObjectTrump` and `.overwrite` it overwrites all values of the stored row,
/// including with defaults; under the other policies it is skipped.
///
/// Execute it with `NSManagedObjectContext.execute(_:)`, and update contexts with
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
  /// Values by property name, one dictionary per object.
  open var objectsToInsert: [[String: Any]]?
  /// Fills an empty dictionary for each object. Returns true at the end; that dictionary is not inserted.
  ///
  /// The store is in a write transaction during the call: do not save to it here.
  ///
  /// Filling and reading Foundation's dictionary takes about twice as long as inserting the row; a `managedObjectHandler`
  /// costs a tenth of that.
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
  /// Fills an object of the entity's class, without a context, for each object. Returns true at the end; that
  /// object is not inserted.
  ///
  /// The store is in a write transaction during the call: do not save to it here.
  open var managedObjectHandler: ((NSManagedObject) -> Bool)?
  /// The kind of result to return.
  open var resultType = NSBatchInsertRequestResultType.statusOnly

  private init(_ entity: NSEntityDescription?, _ name: String) {
    _entity = entity
    _entityName = name
    super.init()
  }

  /// Creates a request without entity, which cannot be executed.
  @available(*, deprecated, message: "Use an initializer with an entity")
  public convenience override init() { self.init(nil, "") }

  /// Creates a request that inserts objects from dictionaries.
  ///
  /// ```swift
  /// let genres = [["name": "essay"], ["name": "drama"]]
  /// try context.execute(NSBatchInsertRequest(entityName: "Tag", objects: genres))
  /// ```
  public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
    self.init(nil, entityName)
    objectsToInsert = dictionaries
  }

  /// Creates a request that inserts objects from dictionaries.
  public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
    self.init(entity, entity.name ?? "")
    objectsToInsert = dictionaries
  }

  /// Creates a request that inserts objects provided one by one by a closure.
  public convenience init(
    entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
  ) {
    self.init(entity, entity.name ?? "")
    dictionaryHandler = handler
  }

  /// Creates a request that inserts objects provided one by one by a closure.
  public convenience init(
    entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(entity, entity.name ?? "")
    managedObjectHandler = handler
  }

  /// Creates a request that inserts objects provided one by one by a closure.
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

  /// Creates a request that inserts objects provided one by one by a closure.
  public convenience init(
    entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
  ) {
    self.init(nil, entityName)
    managedObjectHandler = handler
  }

  /// The name of the objects' entity.
  open var entityName: String { _entityName }

  /// The objects' entity; nil for a request created with a name.
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

  /// A `Bool`, `[NSManagedObjectID]` or `Int`, depending on the result type.
  open var result: Any? { _result }
  /// The kind of result requested.
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
