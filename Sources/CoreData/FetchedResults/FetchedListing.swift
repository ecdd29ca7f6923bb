import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The result of a controller's fetch: objects in order with their sort keys, and the runs that form
/// sections.
struct FetchedListing {
  struct Entry {
    let object: NSManagedObject
    let keys: SortKeys
  }

  /// Adjacent objects with the same section name.
  struct Run {
    let name: String
    var count: Int
  }

  private(set) var entries: [Entry] = []
  private(set) var runs: [Run] = []
  private var _names = Set<String>()
  private let _sectionNameKeyPath: String?

  init(_ sectionNameKeyPath: String?, capacity: Int) {
    _sectionNameKeyPath = sectionNameKeyPath
    entries.reserveCapacity(capacity)
  }

  /// Appends the next object in order.
  ///
  /// - Throws: A Cocoa error 134060 if its section has already ended.
  mutating func append(_ object: NSManagedObject, keys: SortKeys, section name: String) throws {
    if runs.last?.name != name {
      guard _names.insert(name).inserted else {
        throw CocoaError.coreData(
          NSCoreDataError,
          "The fetched objects are out of order by section: '\(name)' comes up again after '\(runs.last?.name ?? "")'. The "
            + "first sort descriptor must order objects as '\(_sectionNameKeyPath ?? "")' groups them.")
      }
      runs.append(Run(name: name, count: 0))
    }
    runs[runs.count - 1].count += 1
    entries.append(Entry(object: object, keys: keys))
  }
}

/// A controller's fetch. Reads as little as possible: from the cache, keys only, or whole objects.
struct ListingReader {
  let request: AnyFetchRequest
  let plan: FetchPlan
  let keys: FetchedKeys
  let context: NSManagedObjectContext
  let sectionNameKeyPath: String?
  let cacheName: String?

  /// Fetches.
  ///
  /// - Throws: Errors of fetching; a Cocoa error 134060 if the objects of a section are not adjacent.
  func listing() throws -> FetchedListing {
    // Created before the stores are queried, so that a save in progress is seen at least once.
    let reading = try FetchReading(plan, request, in: context)
    // Unsaved changes belong in the list, but not in a cache for other runs of the program.
    guard !reading.needsOverlay else { return try _list(under: reading) }
    // The cache does not apply to an older state of the stores.
    guard let cacheName, context.readGeneration == nil, let cache = SectionCache(self) else {
      return try _list(under: nil)
    }
    let mark = try cache.mark()
    if let cached = cache.read(named: cacheName, mark) {
      return try _listing(of: cached, cache.engine)
    }
    let listing = try _list(under: nil)
    // Another context may have saved between the check of the store and the fetch.
    if try cache.mark() == mark { cache.write(listing, named: cacheName, mark) }
    return listing
  }

  private func _list(under unsaved: FetchReading?) throws -> FetchedListing {
    guard request.fetchBatchSize > 0, let columns = _columns,
      let coordinator = context.persistentStoreCoordinator
    else { return try _listObjects() }
    return try _listKeys(columns, coordinator, under: unsaved)
  }

  /// Reads whole objects.
  private func _listObjects() throws -> FetchedListing {
    let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
    let objects = try FetchPass(context).objects(request)
    if let recorder = TraceRecorder.current {
      recorder.record(
        objects.count, recorder.identities(objects), of: request, since: begin, in: context)
    }
    var listing = FetchedListing(sectionNameKeyPath, capacity: objects.count)
    for object in objects {
      guard let row = try context.row(of: object) else { continue }
      try listing.append(
        object, keys: keys.sortKeys(of: object, row), section: keys.sectionName(of: object, row))
    }
    return listing
  }

  // MARK: Keys only

  /// Slots to read with each ID, if sort keys and section are stored in the object's own row: sort keys, then
  /// the section.
  private var _columns: [Int]? {
    guard let slots = keys.storedSlots, slots.allSatisfy({ !plan.layout.slots[$0].isTransient }) else {
      return nil
    }
    return slots
  }

  /// A stored ID, with its sort keys and section.
  private struct Place {
    let key: ObjectKey
    let keys: SortKeys
    let section: Value?
  }

  /// A fetched object, with its sort keys and section.
  private struct Found {
    let object: NSManagedObject
    let keys: SortKeys
    let section: String
  }

  /// Reads IDs with sort keys and sections. With a batch size, objects remain faults until they are accessed,
  /// and are then loaded in batches.
  private func _listKeys(
    _ slots: [Int], _ coordinator: NSPersistentStoreCoordinator, under unsaved: FetchReading?
  ) throws -> FetchedListing {
    var columns = [DictionaryPlan.Column(name: "objectID", expression: .evaluatedObject, type: .objectID)]
    for slot in slots {
      let slot = plan.layout.slots[slot]
      columns.append(
        .init(name: slot.name, expression: .keyPath([slot.name]), type: slot.type ?? .undefined))
    }
    var places: [Place] = []
    let sortCount = plan.sort.count
    try coordinator.forEachRow(
      of: DictionaryPlan(rows: plan, columns: columns), in: request.affectedStores, at: context.readGeneration
    ) { row in
      guard case .reference(let key) = row[0] else { return }
      places.append(
        Place(
          key: key, keys: SortKeys(row[1..<(sortCount + 1)]),
          section: row.count > sortCount + 1 ? row[sortCount + 1] : nil))
    }
    var found: [Found] = []
    found.reserveCapacity(places.count)
    for place in places where unsaved?.isOverlaid(place.key) != true {
      let object = context.registry.object(for: place.key, inBatches: true)
      let name = place.section.map { keys.sectionName($0, of: object) } ?? ""
      found.append(Found(object: object, keys: place.keys, section: name))
    }
    places = []
    if let unsaved { found = try _merged(found, try unsaved.unsavedObjects()) }
    var listing = FetchedListing(sectionNameKeyPath, capacity: found.count)
    for found in found { try listing.append(found.object, keys: found.keys, section: found.section) }
    try _finish(listing)
    return listing
  }

  /// Merges unsaved objects into the stored results, after objects with equal keys.
  private func _merged(_ stored: [Found], _ objects: [NSManagedObject]) throws -> [Found] {
    var unsaved: [Found] = []
    for object in objects {
      guard let row = try context.row(of: object) else { continue }
      unsaved.append(
        Found(
          object: object, keys: try keys.sortKeys(of: object, row),
          section: keys.sectionName(of: object, row)))
    }
    unsaved.sort { keys.order($0.keys, $1.keys) < 0 }
    var merged: [Found] = []
    merged.reserveCapacity(stored.count + unsaved.count)
    var next = stored.startIndex
    for found in unsaved {
      while next < stored.endIndex, keys.order(stored[next].keys, found.keys) <= 0 {
        merged.append(stored[next])
        next += 1
      }
      merged.append(found)
    }
    merged += stored[next...]
    if plan.limit > 0, merged.count > plan.limit { merged.removeLast(merged.count - plan.limit) }
    return merged
  }

  /// Sets up loading of the objects in the requested batches.
  private func _finish(_ listing: FetchedListing) throws {
    let objects = listing.entries.map(\.object)
    if request.fetchBatchSize > 0 {
      context.faultBatch.add(
        FetchPages(KeyList(objects.lazy.compactMap(\._key)), size: request.fetchBatchSize))
    }
    try FetchPass(context).finish(objects, of: request)
  }

  private func _listing(of cached: SectionCache.Contents, _ engine: any StoreEngine) throws -> FetchedListing
  {
    var listing = FetchedListing(sectionNameKeyPath, capacity: cached.entries.count)
    var next = 0
    for run in cached.runs {
      for entry in cached.entries[next..<(next + run.count)] {
        let key = ObjectKey(space: engine.spaces[entry.entityNumber - 1], reference: entry.reference)
        try listing.append(
          context.registry.object(for: key, inBatches: request.fetchBatchSize > 0), keys: entry.keys,
          section: run.name
        )
      }
      next += run.count
    }
    try _finish(listing)
    return listing
  }
}

extension NSManagedObjectContext {
  /// Returns the current values of an object and loads them if necessary; nil if it no longer exists.
  final func row(of object: NSManagedObject) throws -> Row? {
    if let row = object._current { return row }
    guard try FaultPass(self).load(object) else { return nil }
    return object._current
  }
}
