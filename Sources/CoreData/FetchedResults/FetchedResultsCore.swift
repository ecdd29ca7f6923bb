import CoreDataModelSchema
import Foundation

/// The results and observation of a controller, shared by all its facades. Used on the context's queue.
final class FetchedResultsCore {
  let request: AnyFetchRequest
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?

  /// The controller that the program created, which provides index titles.
  weak var owner: (any FetchedResultsOwner)?
  weak var delegate: (any NSFetchedResultsControllerDelegate)? {
    didSet {
      (isSnapshotMissing, isDifferenceMissing) = (false, false)
      // Titles depend on the delegate.
      _titles = nil
    }
  }

  /// Set by the default implementation of the delegate's snapshot method, if the delegate has none.
  var isSnapshotMissing = false

  /// Set by the default implementation of the delegate's difference method, if the delegate has none.
  var isDifferenceMissing = false

  /// The results by section; nil before the first fetch.
  var sections: RankedTree<FetchedSection>?
  var sectionsByName: [String: FetchedSection] = [:]
  var results: [ObjectIdentifier: FetchedResult] = [:]
  var keys: FetchedKeys?
  var plan: FetchPlan?
  var matcher: PendingMatcher?
  /// Whether changes are observed: from a fetch until the context is reset.
  var isFollowing = false
  /// A snapshot passed to the delegate that still reads from the results.
  weak var openSnapshot: NSDiffableDataSourceSnapshotReference?
  /// Whether the last snapshot may contain temporary IDs.
  private var _hasTemporaries = false
  /// The context's count of issued IDs when that was last asked for.
  private var _issuedIDCount = 0
  /// Number of sort key comparisons for changes: the cost of k changes among n results.
  var comparisons = 0
  /// Number of changes to the results, for invalidating copies.
  private(set) var version = 0
  /// Results of a fetch of IDs, dictionaries or counts, which are not observed.
  private(set) var plainResults: [Any]?

  /// Temporary section of a result that has not been placed yet.
  private(set) lazy var placeholder = FetchedSection("", self)

  private var _sectionList: (version: Int, list: [any NSFetchedResultsSectionInfo])?
  /// The edits since the controllers' arrays of objects were last read.
  private(set) var edits = ListEdits()
  private var _titles: (version: Int, index: TitleIndex)?

  init(
    _ request: AnyFetchRequest, _ context: NSManagedObjectContext, _ sectionNameKeyPath: String?,
    cacheName: String?
  ) {
    self.request = request
    self.context = context
    self.sectionNameKeyPath = sectionNameKeyPath
    self.cacheName = cacheName
  }

  // MARK: Fetching

  func performFetch() throws {
    isFollowing = false
    guard request.sortDescriptors != nil else {
      programmerError(
        "an NSFetchedResultsController needs a fetch request with sort descriptors; the one for "
          + "'\(request.entityName ?? "?")' has none.")
    }
    let request = self.request.copy() as! AnyFetchRequest
    request.includesPendingChanges = true
    // Sections and order depend on values, so objects are read whole.
    if request.resultType == .managedObjectResultType { request.propertiesToFetch = nil }
    guard request.resultType == .managedObjectResultType else {
      let typed = NSFetchRequest<Any>()
      typed.copySettings(from: request)
      try _showPlain(context.fetch(typed))
      return
    }
    let plan = try FetchPass(context).plan(for: request)
    let keys = FetchedKeys(plan, sectionNameKeyPath: sectionNameKeyPath)
    let reader = ListingReader(
      request: request, plan: plan, keys: keys, context: context, sectionNameKeyPath: sectionNameKeyPath,
      cacheName: cacheName)
    let listing = try reader.listing()
    self.plan = plan
    self.keys = keys
    _show(listing)
    matcher = PendingMatcher(plan)
    plainResults = nil
    isFollowing = true
    context.observers.add(self)
    sendSnapshot()
  }

  private func _show(_ listing: FetchedListing) {
    openSnapshot?.loadContent()
    var list = listing.runs.map { FetchedSection($0.name, self) }
    if sectionNameKeyPath == nil, list.isEmpty { list.append(FetchedSection("", self)) }
    results = [:]
    _hasTemporaries = false
    results.reserveCapacity(listing.entries.count)
    var start = 0
    for (section, run) in zip(list, listing.runs) {
      let found = listing.entries[start..<(start + run.count)].map {
        FetchedResult($0.object, keys: $0.keys, section: section)
      }
      section.results = RankedTree(found, rank: { keys?.rank(of: $0.keys) ?? 0 }) { $0.handle = $1 }
      section.pivot = found.first?.keys ?? .none
      for result in found { add(result) }
      start += run.count
    }
    sectionsByName = Dictionary(uniqueKeysWithValues: list.map { ($0.name, $0) })
    sections = RankedTree(list, placed: { $0.handle = $1 })
    edits.end()
    advanceVersion()
  }

  private func _showPlain(_ results: [Any]) throws {
    if sectionNameKeyPath != nil {
      throw CocoaError.coreData(
        NSCoreDataError,
        "Sections need managed objects: the request's resultType must be .managedObjectResultType.")
    }
    plainResults = results
    sections = RankedTree([FetchedSection("", self)], placed: { $0.handle = $1 })
    self.results = [:]
    sectionsByName = [:]
    _hasTemporaries = false
    edits.end()
    advanceVersion()
  }

  // MARK: Reading

  func advanceVersion() { version &+= 1 }

  /// Visits the objects in order.
  func forEachObject(_ body: (NSManagedObject) -> Void) {
    sections?.forEach { section in section.results.forEach { body($0.object) } }
  }

  /// Registers a result by its object.
  func add(_ result: FetchedResult) {
    let key = ObjectIdentifier(result.object)
    results[key] = result
    if !result.object.hasPermanentID { _hasTemporaries = true }
  }

  func remove(_ result: FetchedResult) { results[ObjectIdentifier(result.object)] = nil }

  /// Notes that a snapshot shows the IDs as they are now.
  func noteShownIDs() { _issuedIDCount = context.issuedIDCount }

  /// Whether the last snapshot may contain IDs that the context has replaced by permanent ones since, as a save does.
  /// The objects of a context with a parent stay temporary, unless it is asked for their IDs.
  func hasOutdatedIDs() -> Bool {
    guard _issuedIDCount != context.issuedIDCount else { return false }
    noteShownIDs()
    defer { if context.parent == nil { _hasTemporaries = false } }
    return _hasTemporaries
  }

  /// Sets the version of a reader's array to the current one.
  func didRead(_ reader: AnyObject) { edits.setVersion(version, of: reader) }

  /// Logs that a result is about to be removed from its section, or was inserted there.
  func record(_ result: FetchedResult, isRemoved: Bool) {
    guard edits.isWanted else { return }
    guard let place = _place(of: result) else { return edits.end() }
    edits.add(isRemoved ? .remove(at: place) : .insert(result.object, at: place), to: version &+ 1)
  }

  /// Returns the position of a result among all; nil if so many sections come before it that a new array costs less.
  private func _place(of result: FetchedResult) -> Int? {
    guard let sections, let handle = result.section.handle else { return nil }
    let section = sections.position(of: handle)
    guard section < CachedList<Any>.limit else { return nil }
    return (0..<section).reduce(result.item) { $0 + sections[$1].results.count }
  }

  var sectionList: [any NSFetchedResultsSectionInfo]? {
    guard let sections else { return nil }
    if let plainResults { return [PlainSection(plainResults)] }
    if let _sectionList, _sectionList.version == version { return _sectionList.list }
    let list: [any NSFetchedResultsSectionInfo] = sections.elements
    _sectionList = (version, list)
    return list
  }

  /// Returns the object at a path; nil if there is none.
  func object(at path: IndexPath) -> Any? {
    guard path.count == 2, let sections, path.section >= 0, path.section < sections.count, path.item >= 0
    else { return nil }
    if let plainResults { return path.item < plainResults.count ? plainResults[path.item] : nil }
    let section = sections[path.section]
    return path.item < section.results.count ? section.results[path.item].object : nil
  }

  func path(ofObject object: Any) -> IndexPath? {
    guard let object = object as? NSManagedObject, let result = results[ObjectIdentifier(object)] else {
      return nil
    }
    return path(of: result)
  }

  func path(of result: FetchedResult) -> IndexPath {
    IndexPath(item: result.item, section: sections!.position(of: result.section.handle!))
  }

  // MARK: Index titles

  /// Returns the first letter of a section's name, capitalized; nil for an empty name.
  static func initial(of name: String) -> String? { name.first.map { String($0).uppercased() } }

  /// Distinct index titles in section order.
  var indexTitles: [String] { _index.titles }

  /// Returns the first section with an index title.
  func section(titled title: String) -> Int? { _index.sections[title] }

  /// Built on first access after a change, because it calls the delegate once per section.
  private var _index: TitleIndex {
    if let _titles, _titles.version == version { return _titles.index }
    var index = TitleIndex()
    var position = 0
    sections?.forEach { section in
      if let title = section.indexTitle, index.sections[title] == nil {
        index.sections[title] = position
        index.titles.append(title)
      }
      position += 1
    }
    _titles = (version, index)
    return index
  }
}

/// Index titles in order, and the first section of each.
private struct TitleIndex {
  var titles: [String] = []
  var sections: [String: Int] = [:]
}

/// The single section of results that are not managed objects.
private final class PlainSection: NSFetchedResultsSectionInfo {
  let objects: [Any]?
  var name: String { "" }
  var indexTitle: String? { nil }
  var numberOfObjects: Int { objects?.count ?? 0 }

  init(_ objects: [Any]) { self.objects = objects }
}

/// The controller as its core uses it.
protocol FetchedResultsOwner: AnyObject {
  func indexTitle(forSection name: String) -> String?
  /// The controller with the type that delegates expect.
  var face: NSFetchedResultsController<any NSFetchRequestResult> { get }
}
