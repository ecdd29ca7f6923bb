import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// Carries out fetch requests and counts: plans them, reads, and lays unsaved changes over what it has read.
struct FetchPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  func results<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    // Not the closure's result: looking up the metadata of [T] for it costs 1 % of a look-up by key.
    var results: [T] = []
    try TaskCancellation.endingFetch(in: context) { results = try _fetchResults(request) }
    // Predicates that the context evaluates read objects.
    try context.failedReads.check()
    return results
  }

  private func _fetchResults<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    context.checkQueue()
    if request.resultType != .countResultType { context.rootCoordinator?.countFetch() }
    let recorder = TraceRecorder.current
    let begin = recorder == nil ? 0 : TraceRecorder.now
    switch request.resultType {
    case .managedObjectIDResultType:
      let ids = try identities(request)
      if let recorder {
        recorder.record(ids.count, recorder.identities(ids), of: request, since: begin, in: context)
      }
      if T.self == NSManagedObjectID.self { return unsafeBitCast(ids, to: [T].self) }
      return try cast(ids, request)
    case .dictionaryResultType:
      let rows = try dictionaries(request)
      if let recorder { recorder.record(rows.count, [], of: request, since: begin, in: context) }
      return try cast(rows, request)
    case .countResultType:
      return try cast([NSNumber(value: count(for: request as AnyFetchRequest))], request)
    default:
      let objects = try objects(request)
      if let recorder {
        recorder.record(objects.count, recorder.identities(objects), of: request, since: begin, in: context)
      }
      // Casting element by element would cost more than the fetch.
      return try _casted(objects, to: T.self) ?? cast(objects, request)
    }
  }

  /// Returns the objects cast to `type`, or nil if any is of another class.
  private func _casted<T>(_ objects: [NSManagedObject], to type: T.Type) -> [T]? {
    guard let wanted = T.self as? NSManagedObject.Type else { return nil }
    // Objects of one class are usually adjacent, so each class is checked once.
    var fitting = ObjectIdentifier(wanted)
    for object in objects where ObjectIdentifier(Swift.type(of: object)) != fitting {
      guard object is T else { return nil }
      fitting = ObjectIdentifier(Swift.type(of: object))
    }
    // Arrays of objects have the same layout for every class.
    return unsafeBitCast(objects, to: [T].self)
  }

  func cast<T>(_ results: [some Any], _ request: AnyFetchRequest) throws -> [T] {
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

  func count(for request: AnyFetchRequest) throws -> Int {
    let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
    let count = try TaskCancellation.endingFetch(in: context) { try _count(for: request) }
    try context.failedReads.check()
    if let recorder = TraceRecorder.current { recorder.record(count, of: request, since: begin, in: context) }
    return count
  }

  private func _count(for request: AnyFetchRequest) throws -> Int {
    context.checkQueue()
    context.rootCoordinator?.countFetch()
    let plan = try plan(for: request)
    let reading = try FetchReading(plan, request, in: context)
    if !reading.needsOverlay, reading.hidesRows {
      var count = 0
      try reading.forEachStoredKey { _ in count += 1 }
      return count
    }
    if !reading.needsOverlay {
      return try context.persistentStoreCoordinator?.count(
        plan, in: request.affectedStores, at: context.readGeneration) ?? 0
    }
    if let count = try reading.count() { return count }
    reading.plan.content = .identity
    return try reading.identities(sortsUnsaved: false).count
  }

  // MARK: Objects

  func objects(_ request: AnyFetchRequest) throws -> [NSManagedObject] {
    var plan = try plan(for: request)
    plan.content = try request.contentOfObjects(plan.layout)
    let reading = try FetchReading(plan, request, in: context)
    // Sorting unsaved changes in requires values.
    if reading.needsOverlay, !reading.plan.sort.isEmpty { reading.plan.content = .values }
    let objects =
      switch (reading.needsOverlay, reading.plan.content) {
      case (false, .values): try context.registry.objects(for: reading.stored())
      case (false, .identity): try _faults(reading.storedKeys(), of: request)
      default: try reading.objects()
      }
    if plan.layout.parentNumber != nil { try _checkKind(of: objects, plan.layout) }
    if request.fetchBatchSize > 0, reading.needsOverlay || reading.plan.content != .identity {
      context.faultBatch.add(
        FetchPages(KeyList(objects.lazy.compactMap(\._key)), size: request.fetchBatchSize))
    }
    try finish(objects, of: request)
    return objects
  }

  /// Returns the objects of keys. Registered objects keep their values.
  private func _faults(_ keys: KeyList, of request: AnyFetchRequest) -> [NSManagedObject] {
    context.registry.makeRoom(for: keys.count)
    let objects = (0..<keys.count).map { context.registry.object(for: keys[$0], inBatches: true) }
    context.faultBatch.add(keys, batchSize: request.fetchBatchSize)
    return objects
  }

  /// Checks that objects are of the fetched entity. A registered object keeps its entity, and a damaged
  /// file's index may list the row under another one.
  private func _checkKind(of objects: [NSManagedObject], _ layout: PropertyLayout) throws {
    guard let stranger = objects.first(where: { $0._layout !== layout && !$0._layout.isKind(of: layout) })
    else { return }
    throw CocoaError.coreData(
      CocoaError.Code.fileReadCorruptFile.rawValue,
      "The store file is damaged: \(stranger._objectID.uriRepresentation().absoluteString) was read as "
        + "'\(stranger._layout.entityName)' and is found among the objects of '\(layout.entityName)'. Check the file with "
        + "'coredata store check'.")
  }

  /// Prefetches and refreshes fetched objects as the request demands.
  func finish(_ objects: [NSManagedObject], of request: AnyFetchRequest) throws {
    if request.shouldRefreshRefetchedObjects { try PrefetchPass(context).refresh(objects) }
    if let paths = request.relationshipKeyPathsForPrefetching {
      try PrefetchPass(context).run(paths, from: objects)
    }
    if !request.returnsObjectsAsFaults {
      objects.forEachUnretained { $0.fireFault() }
    }
    context.registry.sweepIfDue()
  }

  // MARK: IDs and dictionaries

  /// - Parameter sortsUnsaved: Whether unsaved objects are placed by the sort descriptors. A fetch of IDs
  ///   appends them to the stored results, as in Core Data.
  func identities(_ request: AnyFetchRequest, sortsUnsaved: Bool = false) throws -> [NSManagedObjectID] {
    let reading = try FetchReading(plan(for: request), request, in: context)
    if !reading.needsOverlay || !sortsUnsaved || reading.plan.sort.isEmpty {
      reading.plan.content = .identity
    }
    if reading.needsOverlay { return try reading.identities(sortsUnsaved: sortsUnsaved) }
    var ids: [NSManagedObjectID] = []
    try reading.forEachStoredKey { ids.append(context.registry.id(for: $0) ?? NSManagedObjectID($0)) }
    return ids
  }

  func dictionaries(_ request: AnyFetchRequest) throws -> [NSDictionary] {
    let plan = try plan(for: request)
    guard let coordinator = context.persistentStoreCoordinator, let model = coordinator.frozen else {
      return []
    }
    let columns = try DictionaryColumns(request, plan, model)
    return try coordinator.table(columns.plan, in: request.affectedStores, at: context.readGeneration)
      .map { try columns.dictionary(for: $0) }
  }

  // MARK: Plan

  /// Resolves the request against the model.
  ///
  /// - Throws: A Cocoa error; the kept error of a failed read.
  func plan(for request: AnyFetchRequest) throws -> FetchPlan {
    try context.failedReads.check()
    guard let model = context.frozen else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "\(context.label) has neither coordinator nor parent; set one before fetching from it.")
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

  // MARK: Read elsewhere

  /// Completes a fetch of objects whose rows the stores have already returned.
  func results<T>(_ request: NSFetchRequest<T>, found: [StoredObject]) throws -> [T] {
    var plan = try plan(for: request)
    plan.content = try request.contentOfObjects(plan.layout)
    let reading = try FetchReading(plan, request, in: context)
    if reading.needsOverlay, !plan.sort.isEmpty, plan.content != .values {
      // Sorting unsaved changes in requires values, which were not read.
      return try context.fetch(request)
    }
    context.rootCoordinator?.countFetch()
    reading.found = found
    let objects = try reading.objects()
    try finish(objects, of: request)
    return try cast(objects, request)
  }
}
