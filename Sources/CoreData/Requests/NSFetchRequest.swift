import Foundation

/// The kind of results of a fetch; raw values match Apple's.
///
/// ```swift
/// let request = NSFetchRequest<NSManagedObjectID>(entityName: "Book")
/// request.resultType = .managedObjectIDResultType
/// let ids = try context.fetch(request)
/// ```
public struct NSFetchRequestResultType: OptionSet, Sendable, Hashable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  /// Managed objects.
  public static let managedObjectResultType: NSFetchRequestResultType = []
  /// Object IDs.
  public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
  /// Dictionaries of the properties to fetch.
  public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
  /// One number.
  public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// All settings of a fetch request except the type of its results.
///
/// On Apple's platforms `NSFetchRequest<Book>` converts to `NSFetchRequest<any NSFetchRequestResult>`;
/// Swift's own generics do not convert. Methods that accept any fetch request there accept this class here,
/// so that the same calls compile.
///
/// ```swift
/// func sortByTitle(_ request: AnyFetchRequest) {
///   request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
/// }
/// ```
open class AnyFetchRequest: NSPersistentStoreRequest {
  @exclusivity(unchecked) var _entity: NSEntityDescription?
  @exclusivity(unchecked) private var _entityName: String?

  /// Creates a request without entity; set one before use.
  public override init() { super.init() }

  init(entityNamed name: String) {
    super.init()
    _entityName = name
  }

  /// The entity to fetch.
  ///
  /// Traps for a request created with an entity name until a context has executed it, where Core Data raises;
  /// use `entityName` instead.
  open var entity: NSEntityDescription? {
    get {
      if _entity == nil, let _entityName {
        programmerError(
          "the fetch request for '\(_entityName)' has no entity yet: it was created with a name, and no context has "
            + "executed it. Use entityName, or execute it first.")
      }
      return _entity
    }
    set {
      _entity = newValue
      _entityName = nil
    }
  }

  /// The name of the entity to fetch.
  open var entityName: String? { _entity?.name ?? _entityName }

  /// The condition that results must meet; nil for all objects.
  ///
  /// ```swift
  /// request.predicate = NSPredicate(format: "published >= %@", Date(timeIntervalSinceNow: -365 * 86_400))
  /// ```
  @exclusivity(unchecked) open var predicate: NSPredicate?
  /// The order of the results; nil leaves it to the store.
  ///
  /// ```swift
  /// request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: true)]
  /// ```
  @exclusivity(unchecked) open var sortDescriptors: [NSSortDescriptor]?
  /// The maximum number of results; 0 for no limit.
  ///
  /// ```swift
  /// request.fetchLimit = 1
  /// let first = try context.fetch(request).first
  /// ```
  @exclusivity(unchecked) open var fetchLimit = 0
  /// The number of results to skip.
  ///
  /// ```swift
  /// request.fetchOffset = 40
  /// request.fetchLimit = 20  // the third page
  /// ```
  @exclusivity(unchecked) open var fetchOffset = 0
  /// The number of objects to load at a time; 0 for all at once.
  ///
  /// ```swift
  /// request.fetchBatchSize = 50
  /// ```
  @exclusivity(unchecked) open var fetchBatchSize = 0
  /// The kind of results to return.
  @exclusivity(unchecked) open var resultType: NSFetchRequestResultType = .managedObjectResultType
  /// Whether to include objects of subentities.
  ///
  /// ```swift
  /// let request = NSFetchRequest<NSManagedObject>(entityName: "Publication")
  /// request.includesSubentities = false
  /// ```
  @exclusivity(unchecked) open var includesSubentities = true
  /// Whether values are read along with IDs.
  ///
  /// ```swift
  /// request.includesPropertyValues = false
  /// for book in try context.fetch(request) { context.delete(book) }
  /// ```
  @exclusivity(unchecked) open var includesPropertyValues = true
  /// Whether returned objects are faults, whose values may nevertheless be cached.
  ///
  /// ```swift
  /// request.returnsObjectsAsFaults = false
  /// ```
  @exclusivity(unchecked) open var returnsObjectsAsFaults = true
  /// Relationships to prefetch.
  ///
  /// ```swift
  /// request.relationshipKeyPathsForPrefetching = ["author", "tags"]
  /// for book in try context.fetch(request) { print(book.author?.name ?? "", book.tags.count) }
  /// ```
  @exclusivity(unchecked) open var relationshipKeyPathsForPrefetching: [String]?
  /// Whether to include unsaved changes.
  ///
  /// ```swift
  /// request.includesPendingChanges = false  // what the store has
  /// ```
  @exclusivity(unchecked) open var includesPendingChanges = true
  /// Whether equal dictionaries are returned once; for dictionary results only.
  ///
  /// ```swift
  /// let request = NSFetchRequest<NSDictionary>(entityName: "Author")
  /// request.resultType = .dictionaryResultType
  /// request.propertiesToFetch = ["country"]
  /// request.returnsDistinctResults = true
  /// let countries = try context.fetch(request).compactMap { $0["country"] as? String }
  /// ```
  @exclusivity(unchecked) open var returnsDistinctResults = false
  /// The properties to read: names or property descriptions. Names of the entity's own properties read back
  /// as descriptions once the request has an entity, as they do in Core Data.
  ///
  /// ```swift
  /// let request = NSFetchRequest<NSDictionary>(entityName: "Book")
  /// request.resultType = .dictionaryResultType
  /// request.propertiesToFetch = ["title", "author.name"]
  /// ```
  open var propertiesToFetch: [Any]? {
    get { fetched.map(_described) }
    set { fetched = newValue }
  }
  /// `propertiesToFetch` as given.
  @exclusivity(unchecked) final var fetched: [Any]?
  /// Whether registered objects are refreshed with the fetched values.
  ///
  /// ```swift
  /// request.shouldRefreshRefetchedObjects = true
  /// let books = try context.fetch(request)  // also with what another process has saved since
  /// ```
  @exclusivity(unchecked) open var shouldRefreshRefetchedObjects = false
  /// Properties to group by; for dictionary results only. Names read back as in `propertiesToFetch`.
  ///
  /// ```swift
  /// let count = NSExpressionDescription()
  /// count.name = "count"
  /// count.expression = NSExpression(format: "count:(title)")
  /// count.resultType = .integer64
  /// let request = NSFetchRequest<NSDictionary>(entityName: "Book")
  /// request.resultType = .dictionaryResultType
  /// request.propertiesToFetch = ["author.name", count]
  /// request.propertiesToGroupBy = ["author.name"]
  /// ```
  open var propertiesToGroupBy: [Any]? {
    get { grouped.map(_described) }
    set { grouped = newValue }
  }
  /// `propertiesToGroupBy` as given.
  @exclusivity(unchecked) final var grouped: [Any]?
  /// The condition that groups must meet.
  ///
  /// ```swift
  /// let total = NSExpressionDescription()
  /// total.name = "total"
  /// total.expression = NSExpression(format: "sum:(pages)")
  /// total.resultType = .integer64
  /// let request = NSFetchRequest<NSDictionary>(entityName: "Book")
  /// request.resultType = .dictionaryResultType
  /// request.propertiesToFetch = ["author.name", total]
  /// request.propertiesToGroupBy = ["author.name"]
  /// request.havingPredicate = NSPredicate(format: "$total > 1000")
  /// ```
  @exclusivity(unchecked) open var havingPredicate: NSPredicate?

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// The properties with descriptions in the place of names that the entity knows.
  private final func _described(_ properties: [Any]) -> [Any] {
    guard let known = _entity?.propertiesByName else { return properties }
    return properties.map { property in (property as? String).flatMap { known[$0] } ?? property }
  }

  /// Copies all settings from another request.
  func copySettings(from other: AnyFetchRequest) {
    affectedStores = other.affectedStores
    _entity = other._entity
    _entityName = other._entityName
    predicate = other.predicate
    sortDescriptors = other.sortDescriptors
    fetchLimit = other.fetchLimit
    fetchOffset = other.fetchOffset
    fetchBatchSize = other.fetchBatchSize
    resultType = other.resultType
    includesSubentities = other.includesSubentities
    includesPropertyValues = other.includesPropertyValues
    returnsObjectsAsFaults = other.returnsObjectsAsFaults
    relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
    includesPendingChanges = other.includesPendingChanges
    returnsDistinctResults = other.returnsDistinctResults
    fetched = other.fetched
    shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
    grouped = other.grouped
    havingPredicate = other.havingPredicate
  }

  /// Whether `object` is a request with equal settings, regardless of the type of its results.
  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? AnyFetchRequest else { return false }
    return self === other || hasContent(of: other)
  }

  open override var hash: Int {
    var hasher = Hasher()
    hasher.combine(entityName)
    hasher.combine(fetchLimit)
    hasher.combine(resultType)
    return hasher.finalize()
  }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = AnyFetchRequest()
    copy.copySettings(from: self)
    return copy
  }

  /// Returns this request's entity in a model and caches it.
  ///
  /// - Throws: A Cocoa error when the request has no entity or names one that the model lacks.
  func resolvedEntity(in model: FrozenModel) throws -> NSEntityDescription {
    if let _entity {
      if _entity.frozen != nil { return _entity }
      // An entity of an unfrozen copy of the model has the right name.
      if let name = _entity.name, let own = model.entitiesByName[name] { return own }
    }
    guard let name = entityName else {
      throw CocoaError.coreData(
        NSCoreDataError, "The fetch request has no entity. Create it with NSFetchRequest(entityName:).")
    }
    guard let entity = model.entitiesByName[name] else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "The fetch request asks for entity '\(name)', which the model does not have. It has: "
          + model.entities.compactMap(\.name).sorted().joined(separator: ", ") + ".")
    }
    _entity = entity
    return entity
  }
}

/// A search for objects of one entity, with condition, order and limits.
///
/// Not safe to use from several threads at once. `ResultType` is not constrained to `NSFetchRequestResult`:
/// without Objective-C, `any NSFetchRequestResult` does not conform to itself, and code uses
/// `NSFetchRequest<any NSFetchRequestResult>`.
///
/// ```swift
/// let request = NSFetchRequest<Book>(entityName: "Book")
/// request.predicate = NSPredicate(format: "author.name == %@", "Virginia Woolf")
/// request.sortDescriptors = [NSSortDescriptor(key: "published", ascending: true)]
/// request.fetchLimit = 20
/// let books = try context.fetch(request)
/// ```
open class NSFetchRequest<ResultType>: AnyFetchRequest {
  /// Creates a request without entity; set one before use.
  public override init() { super.init() }

  /// Creates a request for the named entity.
  public init(entityName: String) { super.init(entityNamed: entityName) }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSFetchRequest<ResultType>()
    copy.copySettings(from: self)
    return copy
  }

  /// Executes the request in the context whose `perform` block is running.
  ///
  /// ```swift
  /// let count = try await background.perform { try Book.fetchRequest().execute().count }
  /// ```
  ///
  /// - Throws: A Cocoa error outside such a block; otherwise errors of `NSManagedObjectContext.fetch(_:)`.
  open func execute() throws -> [ResultType] {
    guard let context = ContextQueue.current else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "NSFetchRequest.execute() was called outside of a context's perform block, so no context can carry it out; call "
          + "context.fetch(_:).")
    }
    return try context.fetch(self)
  }
}

extension NSFetchRequest {
  /// Passes an untyped copy of this request to a closure. If that resolves the entity, this request caches
  /// it, too.
  final func untyped<Found>(_ use: (NSFetchRequest<any NSFetchRequestResult>) throws -> Found) rethrows
    -> Found
  {
    if let request = self as AnyFetchRequest as? NSFetchRequest<any NSFetchRequestResult> {
      return try use(request)
    }
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.copySettings(from: self)
    defer { _entity = request._entity ?? _entity }
    return try use(request)
  }
}
