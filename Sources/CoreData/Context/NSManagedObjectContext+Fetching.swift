import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

extension NSManagedObjectContext {
  /// Fetches. In a subclass, a typed request goes through the untyped `fetch(_:)`, which test doubles
  /// override. An untyped request comes from there, or from a class that does not override it
  /// (``OverriddenFetch``).
  final func fetchOverridably<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    if type(of: self) == NSManagedObjectContext.self || T.self == (any NSFetchRequestResult).self {
      return try fetchResults(request)
    }
    return try fetchThroughUntyped(request)
  }

  /// Counts. In a subclass, goes through the untyped `count(for:)`, which it may override.
  final func countOverridably<T>(_ request: NSFetchRequest<T>) throws -> Int {
    if type(of: self) == NSManagedObjectContext.self { return try count(for: request as AnyFetchRequest) }
    return try request.untyped { try count(for: $0) }
  }

  final func fetchResults<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    // Not the closure's result: looking up the metadata of [T] for it costs 1 % of a look-up by key.
    var results: [T] = []
    try TaskCancellation.endingFetch(in: self) { results = try _fetchResults(request) }
    // Predicates that the context evaluates read objects.
    try checkReadFailures()
    return results
  }

  private final func _fetchResults<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    checkQueue()
    if request.resultType != .countResultType { rootCoordinator?.countFetch() }
    let recorder = TraceRecorder.current
    let begin = recorder == nil ? 0 : TraceRecorder.now
    switch request.resultType {
    case .managedObjectIDResultType:
      let ids = try fetchIDs(request)
      if let recorder { record(ids.count, recorder.identities(ids), of: request, since: begin, by: recorder) }
      if T.self == NSManagedObjectID.self { return unsafeBitCast(ids, to: [T].self) }
      return try cast(ids, request)
    case .dictionaryResultType:
      let rows = try fetchDictionaries(request)
      if let recorder { record(rows.count, [], of: request, since: begin, by: recorder) }
      return try cast(rows, request)
    case .countResultType:
      return try cast([NSNumber(value: count(for: request as AnyFetchRequest))], request)
    default:
      let objects = try fetchObjects(request)
      if let recorder {
        record(objects.count, recorder.identities(objects), of: request, since: begin, by: recorder)
      }
      // Casting element by element would cost more than the fetch.
      return try casted(objects, to: T.self) ?? cast(objects, request)
    }
  }

  final func cast<T>(_ results: [some Any], _ request: AnyFetchRequest) throws -> [T] {
    try results.map { result in
      guard let wanted = result as? T else {
        throw CocoaError.coreData(
          NSCoreDataError,
          "The fetch of '\(request.entityName ?? "?")' was asked for results of type \(T.self) but gives "
            + "\(type(of: result)). Check the request's type, its resultType and the entity's class.")
      }
      return wanted
    }
  }

  final func count(for request: AnyFetchRequest) throws -> Int {
    let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
    let count = try TaskCancellation.endingFetch(in: self) { try _count(for: request) }
    try checkReadFailures()
    if let recorder = TraceRecorder.current { record(count, of: request, since: begin, by: recorder) }
    return count
  }

  private final func _count(for request: AnyFetchRequest) throws -> Int {
    checkQueue()
    rootCoordinator?.countFetch()
    let plan = try plan(for: request)
    let reading = try FetchReading(plan, request, in: self)
    if !reading.needsOverlay, reading.hidesRows {
      var count = 0
      try reading.forEachStoredKey { _ in count += 1 }
      return count
    }
    if !reading.needsOverlay {
      return try persistentStoreCoordinator?.count(plan, in: request.affectedStores, at: readGeneration) ?? 0
    }
    if let count = try reading.count() { return count }
    reading.plan.content = .identity
    return try reading.identities(sortsUnsaved: false).count
  }

  // MARK: Objects

  final func fetchObjects(_ request: AnyFetchRequest) throws -> [NSManagedObject] {
    var plan = try plan(for: request)
    plan.content = try request.contentOfObjects(plan.layout)
    let reading = try FetchReading(plan, request, in: self)
    // Sorting unsaved changes in requires values.
    if reading.needsOverlay, !reading.plan.sort.isEmpty { reading.plan.content = .values }
    let objects =
      switch (reading.needsOverlay, reading.plan.content) {
      case (false, .values): try objects(for: reading.stored())
      case (false, .identity): try _faults(reading.storedKeys(), of: request)
      default: try reading.objects()
      }
    if plan.layout.parentNumber != nil { try _checkKind(of: objects, plan.layout) }
    if request.fetchBatchSize > 0, reading.needsOverlay || reading.plan.content != .identity {
      faultBatch.add(FetchPages(KeyList(objects.lazy.compactMap(\._key)), size: request.fetchBatchSize))
    }
    try finish(objects, of: request)
    return objects
  }

  /// Returns the objects of keys. Registered objects keep their values.
  private final func _faults(_ keys: KeyList, of request: AnyFetchRequest) -> [NSManagedObject] {
    makeRoom(for: keys.count)
    let objects = (0..<keys.count).map { object(for: keys[$0], inBatches: true) }
    faultBatch.add(keys, batchSize: request.fetchBatchSize)
    return objects
  }

  /// Checks that objects are of the fetched entity. A registered object keeps its entity, and a damaged
  /// file's index may list the row under another one.
  private final func _checkKind(of objects: [NSManagedObject], _ layout: PropertyLayout) throws {
    guard let stranger = objects.first(where: { $0._layout !== layout && !$0._layout.isKind(of: layout) })
    else { return }
    throw CocoaError.coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "The store file is damaged: \(stranger._objectID.uriRepresentation().absoluteString) was read as "
        + "'\(stranger._layout.entityName)' and is found among the objects of '\(layout.entityName)'. Check the file with "
        + "'coredata store check'.")
  }

  /// Prefetches and refreshes fetched objects as the request demands.
  final func finish(_ objects: [NSManagedObject], of request: AnyFetchRequest) throws {
    if request.shouldRefreshRefetchedObjects { try refreshRefetched(objects) }
    if let paths = request.relationshipKeyPathsForPrefetching { try prefetch(paths, from: objects) }
    if !request.returnsObjectsAsFaults {
      objects.forEachUnretained { $0.fireFault() }
    }
    sweepIfDue()
  }

  /// Returns the object for a fetched row. A registered object keeps its values.
  final func object(for stored: StoredObject) -> NSManagedObject {
    let key = IdentityKey(stored.key)
    if let object = heldObject(for: key) {
      guard object.isFault else { return object }
      if object._row == nil {
        object.setRow(from: stored)
        object._state.attachValues(stamps.current)
      } else if stored.part == nil {
        reattach(stored.row, to: object)
      }
      return object
    }
    if let entry = overlay.layers.entry(for: key) { return materialize(entry) }
    if stored.part != nil {
      let object = make(stored.key, key, row: nil)
      object.setRow(from: stored)
      faultBatch.add(stored.key)
      return object
    }
    let object = make(stored.key, key, row: stored.row)
    if stored.row == nil { faultBatch.add(stored.key) }
    return object
  }

  // MARK: IDs and dictionaries

  /// - Parameter sortsUnsaved: Whether unsaved objects are placed by the sort descriptors. A fetch of IDs
  ///   appends them to the stored results, as in Core Data.
  final func fetchIDs(_ request: AnyFetchRequest, sortsUnsaved: Bool = false) throws -> [NSManagedObjectID] {
    let reading = try FetchReading(plan(for: request), request, in: self)
    if !reading.needsOverlay || !sortsUnsaved || reading.plan.sort.isEmpty {
      reading.plan.content = .identity
    }
    if reading.needsOverlay { return try reading.identities(sortsUnsaved: sortsUnsaved) }
    var ids: [NSManagedObjectID] = []
    try reading.forEachStoredKey { ids.append(id(for: $0) ?? NSManagedObjectID($0)) }
    return ids
  }

  final func fetchDictionaries(_ request: AnyFetchRequest) throws -> [NSDictionary] {
    let plan = try plan(for: request)
    guard let coordinator = persistentStoreCoordinator, let model = coordinator.frozen else { return [] }
    let columns = try DictionaryColumns(request, plan, model)
    return try coordinator.table(columns.plan, in: request.affectedStores, at: readGeneration)
      .map { try columns.dictionary(for: $0) }
  }

  // MARK: Plan

  /// Resolves the request against the model.
  ///
  /// - Throws: A Cocoa error; the kept error of a failed read.
  final func plan(for request: AnyFetchRequest) throws -> FetchPlan {
    try checkReadFailures()
    guard let model = frozen else {
      throw CocoaError.coreData(
        NSCoreDataError, "\(label) has neither coordinator nor parent; set one before fetching from it.")
    }
    let entity = try request.resolvedEntity(in: model)
    if request.resultType != .dictionaryResultType, request.propertiesToGroupBy?.isEmpty == false {
      throw CocoaError.coreData(
        NSCoreDataError,
        "The fetch of '\(entity.name ?? "?")' has propertiesToGroupBy, which needs resultType .dictionaryResultType."
      )
    }
    var plan = FetchPlan(layout: entity.layout)
    plan.includesSubentities = request.includesSubentities
    do {
      if let predicate = request.predicate { try plan.setPredicate(predicate) }
      if let descriptors = request.sortDescriptors { plan.sort = try descriptors.map { try $0.sortTerm() } }
    } catch {
      throw CocoaError.coreData(
        NSCoreDataError, "The fetch of '\(entity.name ?? "?")' cannot be carried out: \(error)")
    }
    plan.limit = max(0, request.fetchLimit)
    plan.offset = max(0, request.fetchOffset)
    return plan
  }
}
