import Foundation

/// Keeps the results of a fetch up to date, in sections, and reports changes to its delegate.
///
/// Used on the context's queue. It follows inserted, updated and deleted objects, saves of child contexts and
/// merges, the last also where they concern objects that the context has not loaded (Core Data's controllers
/// miss those). k changes among n results cost O(k log n). `ResultType` is not constrained, for the reason
/// given at `NSFetchRequest`.
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

  /// Creates a controller, which is empty until `performFetch()`.
  ///
  /// - Parameters:
  ///   - fetchRequest: What to show; needs sort descriptors, of which the first groups objects by section.
  ///   - context: Where to fetch, and which context's changes to follow.
  ///   - sectionNameKeyPath: Value whose text names an object's section; nil for one section. May lead to
  ///     computed properties.
  ///   - name: Name of a cache on disk for order and sections, kept across runs of the program; nil for none.
  ///     Give controllers of different requests different names.
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

  /// Creates a controller of a request with another static type of results; otherwise as the other
  /// initialiser.
  ///
  /// On Apple's platforms every request casts to `NSFetchRequest<any NSFetchRequestResult>`; Swift's own
  /// generics do not. A generic subclass passes its `NSFetchRequest<T>` on as it is, without the cast.
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

  /// Another face on the same results.
  init(facing core: FetchedResultsCore, request: NSFetchRequest<ResultType>) {
    self.core = core
    _fetchRequest = request
    super.init()
  }

  /// Fetches, and follows changes from now on. May be called again after the request was changed; the
  /// delegate is not told, unless it takes snapshots.
  ///
  /// With a `cacheName` nothing is fetched if the cache still holds: if the entity, its version hash,
  /// predicate, order, section key path and the stored objects are what they were when it was written.
  /// Otherwise it is written anew, from here only: later changes make it stale and the next `performFetch()`
  /// replaces it. It is not used for a store in memory, for several stores at once, or while the context has
  /// unsaved changes.
  ///
  /// With a `fetchBatchSize` objects stay faults that are filled in batches as they are looked at, provided
  /// that order and sections depend on stored attributes of the entity itself. Unsaved changes make no
  /// difference to that.
  ///
  /// ```swift
  /// controller.fetchRequest.predicate = NSPredicate(format: "title CONTAINS[cd] %@", "waves")
  /// try controller.performFetch()
  /// ```
  ///
  /// - Throws: What fetching throws; a Cocoa error 134060 when objects of one section are not next to each
  ///   other.
  open func performFetch() throws { try core.performFetch() }

  // MARK: Set-up

  /// What is shown. Its predicate and order may be changed; that takes effect with the next `performFetch()`.
  open var fetchRequest: NSFetchRequest<ResultType> { _fetchRequest }

  /// Context that is fetched in and followed.
  open var managedObjectContext: NSManagedObjectContext { core.context }

  /// Value that names an object's section.
  open var sectionNameKeyPath: String? { core.sectionNameKeyPath }

  /// Name of the cache on disk.
  open var cacheName: String? { core.cacheName }

  /// Receives changes; held weakly. Without a delegate the controller does not follow changes.
  open var delegate: (any NSFetchedResultsControllerDelegate)? {
    get { core.delegate }
    set { core.delegate = newValue }
  }

  /// Deletes the cache of this name, or with nil all caches of the program.
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
    if let _objects, _objects.version == core.version { return _objects.list }
    let list: [ResultType]
    if let plain = core.plainResults {
      list = plain.map(_typed)
    } else if let objects = core.objects {
      list = objects.map(_typed)
    } else {
      return nil
    }
    _objects = (core.version, list)
    return list
  }

  /// The object at an index path. Traps where there is none, as Core Data raises.
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

  /// Index path of an object; nil if it is not among the results.
  ///
  /// ```swift
  /// if let path = controller.indexPath(forObject: book) { print(path.section, path.row) }
  /// ```
  open func indexPath(forObject object: ResultType) -> IndexPath? { core.path(ofObject: object) }

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

  /// Index title of a section: the delegate's, or the capital first letter of the name. Override to say
  /// otherwise.
  open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
    // A face asks the controller it shows, which may be of a subclass with titles of its own.
    if let owner = core.owner, owner !== self { return owner.indexTitle(forSection: sectionName) }
    guard let delegate = core.delegate else { return FetchedResultsCore.initial(of: sectionName) }
    return delegate.controller(face, sectionIndexTitleForSectionName: sectionName)
  }

  /// Index titles in the order of the sections, each once.
  open var sectionIndexTitles: [String] { core.indexTitles }

  /// The section that an entry of the index leads to. Traps for a title that is not in the index, as Core
  /// Data raises.
  open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
    guard let section = core.section(titled: title) else {
      programmerError(
        "no section has the index title '\(title)'. There are: \(sectionIndexTitles.joined(separator: ", "))."
      )
    }
    return section
  }

  // MARK: Identity

  /// Whether the other is a controller over the same results: itself, or what its delegate is shown.
  open override func isEqual(_ object: Any?) -> Bool {
    (object as? any FetchedResultsFace)?.sharedResults === core
  }

  open override var hash: Int { ObjectIdentifier(core).hashValue }
}

/// A controller of any type.
private protocol FetchedResultsFace {
  var sharedResults: FetchedResultsCore { get }
}

extension NSFetchedResultsController: FetchedResultsFace {
  fileprivate final var sharedResults: FetchedResultsCore { core }

  /// Whether both show the same results: `controller === booksController` holds in a delegate method.
  public static func === <Other>(
    left: NSFetchedResultsController, right: NSFetchedResultsController<Other>?
  ) -> Bool { left.core === right?.core }

  /// Whether both show different results.
  public static func !== <Other>(
    left: NSFetchedResultsController, right: NSFetchedResultsController<Other>?
  ) -> Bool { left.core !== right?.core }

  /// Whether both show the same results, whatever their types.
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
