import Foundation

/// Keeps the results of a fetch up to date, in sections, and reports changes to its delegate.
///
/// Used on the context's queue. Observes inserted, updated and deleted objects, saves of child contexts, and
/// merges, including those of objects that the context has not loaded (which Core Data's controllers miss). k
/// changes among n results cost O(k log n). `ResultType` is not constrained, for the reason given at
/// `NSFetchRequest`.
///
/// ```swift
/// let request = Book.fetchRequest()
/// request.sortDescriptors = [
///   NSSortDescriptor(key: "author.name", ascending: true), NSSortDescriptor(key: "title", ascending: true),
/// ]
/// let controller = NSFetchedResultsController(
///   fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "author.name", cacheName: nil)
/// try controller.performFetch()
/// for section in controller.sections ?? [] { print(section.name, section.numberOfObjects) }
/// ```
open class NSFetchedResultsController<ResultType>: NSObject {
  let core: FetchedResultsCore
  private let _fetchRequest: NSFetchRequest<ResultType>
  private var _face: NSFetchedResultsController<any NSFetchRequestResult>?
  private var _objects: (version: Int, list: [ResultType])?
  /// The class of the last result, if that is a `ResultType` and the type is one of classes.
  private var _resultClass: ObjectIdentifier?

  /// Creates a controller, which is empty until `performFetch()`.
  ///
  /// - Parameters:
  ///   - fetchRequest: The fetch; needs sort descriptors, of which the first groups objects by section.
  ///   - context: The context to fetch in and observe.
  ///   - sectionNameKeyPath: Value whose text is an object's section name; nil for one section. May include
  ///     computed properties.
  ///   - name: Name of a cache on disk for order and sections, kept across runs of the program; nil for none.
  ///     Use different names for controllers of different requests.
  public init(
    fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    guard fetchRequest.sortDescriptors != nil else { Self._refuseUnsorted(fetchRequest) }
    _fetchRequest = fetchRequest
    core = FetchedResultsCore(fetchRequest, context, sectionNameKeyPath, cacheName: name)
    super.init()
    core.owner = self
  }

  /// Creates a controller of a request with another static result type; otherwise like the other initializer.
  ///
  /// On Apple's platforms every request casts to `NSFetchRequest<any NSFetchRequestResult>`; Swift's own
  /// generics do not. A generic subclass passes its `NSFetchRequest<T>` without the cast.
  @_disfavoredOverload
  public init(
    fetchRequest: AnyFetchRequest, managedObjectContext context: NSManagedObjectContext,
    sectionNameKeyPath: String?, cacheName name: String?
  ) {
    guard fetchRequest.sortDescriptors != nil else { Self._refuseUnsorted(fetchRequest) }
    if let request = fetchRequest as? NSFetchRequest<ResultType> {
      _fetchRequest = request
    } else {
      _fetchRequest = NSFetchRequest<ResultType>()
      _fetchRequest.copySettings(from: fetchRequest)
    }
    core = FetchedResultsCore(_fetchRequest, context, sectionNameKeyPath, cacheName: name)
    super.init()
    core.owner = self
  }

  private static func _refuseUnsorted(_ request: AnyFetchRequest) -> Never {
    programmerError(
      "an NSFetchedResultsController needs a fetch request with sort descriptors; the one for "
        + "'\(request.entityName ?? "?")' has none.")
  }

  /// Creates a facade of the same results.
  init(facing core: FetchedResultsCore, request: NSFetchRequest<ResultType>) {
    self.core = core
    _fetchRequest = request
    super.init()
  }

  /// Fetches, and observes changes from now on. May be called again after the request was changed. Does not
  /// notify the delegate, unless it takes snapshots.
  ///
  /// With a valid `cacheName` cache nothing is fetched. A cache is valid if the entity, its version hash,
  /// predicate, order, section key path and the stored objects are the same as when it was written. Otherwise
  /// this method, and only this method, rewrites it: later changes make it stale until the next
  /// `performFetch()`. It is not used for a store in memory, for several stores at once, or while the context
  /// has unsaved changes.
  ///
  /// With a `fetchBatchSize` objects remain faults that are filled in batches on access, provided that order
  /// and sections depend on stored attributes of the entity itself. This holds even with unsaved changes.
  ///
  /// ```swift
  /// controller.fetchRequest.predicate = NSPredicate(format: "title CONTAINS[cd] %@", "waves")
  /// try controller.performFetch()
  /// ```
  ///
  /// - Throws: Errors of fetching; a Cocoa error 134060 if the objects of a section are not adjacent.
  open func performFetch() throws { try core.performFetch() }

  // MARK: Set-up

  /// The fetch request. Changes of its predicate and order take effect with the next `performFetch()`.
  open var fetchRequest: NSFetchRequest<ResultType> { _fetchRequest }

  /// The context to fetch in and observe.
  open var managedObjectContext: NSManagedObjectContext { core.context }

  /// Value that names an object's section.
  open var sectionNameKeyPath: String? { core.sectionNameKeyPath }

  /// Name of the cache on disk.
  open var cacheName: String? { core.cacheName }

  /// Receives changes; weak. Without a delegate the controller does not observe changes.
  open var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// Deletes the cache of this name; nil deletes all caches of the program.
  ///
  /// ```swift
  /// NSFetchedResultsController<Book>.deleteCache(withName: "BooksByAuthor")
  /// ```
  open class func deleteCache(withName name: String?) { SectionCacheFiles.delete(name) }

  // MARK: Results

  /// The results in order; nil before the first fetch.
  ///
  /// ```swift
  /// let titles = controller.fetchedObjects?.compactMap(\.title) ?? []
  /// ```
  open var fetchedObjects: [ResultType]? {
    if let version = _objects?.version {
      if version == core.version { return _objects!.list }
      if let edits = core.edits.edits(for: self) {
        for edit in edits { _apply(edit) }
        _objects!.version = core.version
        core.didRead(self)
        return _objects!.list
      }
    }
    guard core.sections != nil else { return nil }
    var list: [ResultType] = []
    if let plain = core.plainResults {
      list = plain.map(_typed)
    } else {
      list.reserveCapacity(core.results.count)
      core.forEachObject { list.append(_typed(managed: $0)) }
      core.didRead(self)
    }
    _objects = (core.version, list)
    return list
  }

  private final func _apply(_ edit: ListEdits.Edit) {
    switch edit {
    case .remove(let position): _objects!.list.remove(at: position)
    case .insert(let object, let position): _objects!.list.insert(_typed(managed: object), at: position)
    }
  }

  /// The object at an index path. Traps if there is none, where Core Data raises.
  ///
  /// ```swift
  /// let book = controller.object(at: IndexPath(row: 3, section: 0))
  /// ```
  open func object(at indexPath: IndexPath) -> ResultType {
    guard let object = core.object(at: indexPath) else {
      let shape = (core.sectionList ?? []).map { String($0.numberOfObjects) }.joined(separator: ", ")
      programmerError(
        "no object at index path \(indexPath) of the fetched results; sections have [\(shape)] objects.")
    }
    return _typed(object)
  }

  /// The index path of an object; nil if it is not among the results.
  ///
  /// ```swift
  /// if let path = controller.indexPath(forObject: book) { print(path.section, path.row) }
  /// ```
  open func indexPath(forObject object: ResultType) -> IndexPath? { core.path(ofObject: object) }

  private final func _typed(managed object: NSManagedObject) -> ResultType {
    // The cast costs more than all else that is done for an element; objects of one class need one.
    if ObjectIdentifier(type(of: object)) == _resultClass {
      return unsafeBitCast(object, to: ResultType.self)
    }
    let typed = _typed(object)
    if ResultType.self is AnyObject.Type { _resultClass = ObjectIdentifier(type(of: object)) }
    return typed
  }

  private func _typed(_ object: Any) -> ResultType {
    guard let typed = object as? ResultType else {
      programmerError(
        "a fetched results controller of \(ResultType.self) has fetched a \(type(of: object)). Check the request's type, its "
          + "resultType and the class of entity '\(_fetchRequest.entityName ?? "?")'.")
    }
    return typed
  }

  // MARK: Sections

  /// The sections in order; nil before the first fetch.
  ///
  /// ```swift
  /// for section in controller.sections ?? [] {
  ///   print(section.name, section.objects?.compactMap { ($0 as? Book)?.title } ?? [])
  /// }
  /// ```
  open var sections: [any NSFetchedResultsSectionInfo]? { core.sectionList }

  /// The index title of a section: the delegate's, or the capitalized first letter of the name. Override to
  /// customize it.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    // A facade delegates to its controller, which may be of a subclass with custom titles.
    if let owner = core.owner, owner !== self { return owner.indexTitle(forSection: sectionName) }
    guard let delegate = core.delegate else { return FetchedResultsCore.initial(of: sectionName) }
    return delegate.controller(face, sectionIndexTitleForSectionName: sectionName)
  }

  /// Distinct index titles in section order.
  open var sectionIndexTitles: [String] { core.indexTitles }

  /// The section of an entry in the index. Traps for a title that is not in the index, where Core Data
  /// raises.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    guard let section = core.section(titled: title) else {
      programmerError(
        "no section has the index title '\(title)'. There are: \(sectionIndexTitles.joined(separator: ", "))."
      )
    }
    return section
  }

  // MARK: Identity

  /// Whether the other is a controller of the same results: itself, or a facade passed to its delegate.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? any FetchedResultsFace)?.sharedResults === core
  }

  open override var hash: Int { ObjectIdentifier(core).hashValue }
}

/// A controller of any result type.
private protocol FetchedResultsFace {
  var sharedResults: FetchedResultsCore { get }
}

extension NSFetchedResultsController: FetchedResultsFace {
  fileprivate final var sharedResults: FetchedResultsCore { core }

  /// Whether both controllers have the same results: `controller === booksController` holds in a delegate
  /// method.
  public static func === <Other>(
    left: NSFetchedResultsController, right: NSFetchedResultsController<Other>?
  ) -> Bool { left.core === right?.core }

  /// Whether the controllers have different results.
  public static func !== <Other>(
    left: NSFetchedResultsController, right: NSFetchedResultsController<Other>?
  ) -> Bool { left.core !== right?.core }

  /// Whether both controllers have the same results, regardless of their types.
  public static func == <Other>(
    left: NSFetchedResultsController, right: NSFetchedResultsController<Other>?
  ) -> Bool { left.core === right?.core }
}

extension NSFetchedResultsController: FetchedResultsOwner {
  func indexTitle(forSection name: String) -> String? { sectionIndexTitle(forSectionName: name) }

  var face: NSFetchedResultsController<any NSFetchRequestResult> {
    if let face = self as? NSFetchedResultsController<any NSFetchRequestResult> { return face }
    if let _face { return _face }
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.copySettings(from: _fetchRequest)
    let face = NSFetchedResultsController<any NSFetchRequestResult>(
      facing: core, request: request)
    _face = face
    return face
  }
}
