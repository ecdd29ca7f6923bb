import Foundation
import ModelSchema
import PredicateLanguage

extension NSManagedObjectContext {
  /// Objects (or IDs, dictionaries, one count) that meet the request, unsaved changes of this context and its parents
  /// included.
  ///
  /// - Throws: A Cocoa error: an unknown entity, a predicate that cannot be translated, the store's own.
  public final func fetch<T>(_ request: NSFetchRequest<T>) throws -> [T] {
    switch request.resultType {
    case .managedObjectIDResultType:
      return try cast(fetchIDs(request), request)
    case .dictionaryResultType:
      return try cast(fetchDictionaries(request), request)
    case .countResultType:
      return try cast([NSNumber(value: count(for: request as AnyFetchRequest))], request)
    default:
      let objects = try fetchObjects(request)
      // Arrays of objects are laid out alike; a cast element by element would cost more than the fetch of it.
      if T.self == NSManagedObject.self { return unsafeBitCast(objects, to: [T].self) }
      return try cast(objects, request)
    }
  }

  private final func cast<T>(_ results: [some Any], _ request: AnyFetchRequest) throws -> [T] {
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

  /// Number of objects that a fetch would return, without making them.
  ///
  /// - Throws: As `fetch(_:)`.
  public final func count<T>(for request: NSFetchRequest<T>) throws -> Int {
    try count(for: request as AnyFetchRequest)
  }

  final func count(for request: AnyFetchRequest) throws -> Int {
    let plan = try plan(for: request)
    let reading = try FetchReading(plan, request, in: self)
    if !reading.needsOverlay {
      return try persistentStoreCoordinator?.count(plan, in: request.affectedStores) ?? 0
    }
    reading.plan.content = .identity
    return try reading.identities().count
  }

  // MARK: Objects

  final func fetchObjects(_ request: AnyFetchRequest) throws -> [NSManagedObject] {
    var plan = try plan(for: request)
    if !request.includesPropertyValues { plan.content = .identity }
    let reading = try FetchReading(plan, request, in: self)
    let objects = try reading.needsOverlay ? reading.objects() : reading.stored().map { object(for: $0) }
    if let paths = request.relationshipKeyPathsForPrefetching { try prefetch(paths, from: objects) }
    if !request.returnsObjectsAsFaults {
      for object in objects { object.fireFault() }
    }
    sweepIfDue()
    return objects
  }

  /// The object for what a store has found; a registered one keeps its values.
  final func object(for stored: StoredObject) -> NSManagedObject {
    if let object = table.object(for: stored.key) {
      if object.isFault, object._row == nil { object._row = stored.row }
      return object
    }
    if let entry = overlay.layers.entry(for: ObjectTable.Key(stored.key)) { return materialize(entry) }
    let object = make(NSManagedObjectID(stored.key), row: stored.row)
    if stored.row == nil { faultBatch.add(object) }
    return object
  }

  /// Fills to-one and to-many relationships of fetched objects, a statement for each step.
  private final func prefetch(_ paths: [String], from objects: [NSManagedObject]) throws {
    for path in paths {
      var level = objects
      for step in path.split(separator: ".") {
        level = try level.flatMap { object -> [NSManagedObject] in
          guard let slot = object._layout.slot(named: String(step)),
            let relationship = object._layout.slots[slot].relationship
          else {
            throw CocoaError.coreData(
              NSCoreDataError,
              "relationshipKeyPathsForPrefetching names '\(path)', but '\(object._layout.entityName)' has no relationship "
                + "'\(step)'.")
          }
          return relationship.isToMany ? object.members(slot).list : object.toOne(slot).map { [$0] } ?? []
        }
        // The faults just made stand in one batch: filling the first brings the others.
        for object in level where object.isFault && object._row == nil { _ = try load(object) }
      }
    }
  }

  // MARK: IDs and dictionaries

  private final func fetchIDs(_ request: AnyFetchRequest) throws -> [NSManagedObjectID] {
    let reading = try FetchReading(plan(for: request), request, in: self)
    // Values are needed only to sort unsaved changes in.
    if reading.needsOverlay { return try reading.identities() }
    reading.plan.content = .identity
    return try reading.stored().map { id(for: $0.key) ?? NSManagedObjectID($0.key) }
  }

  private final func fetchDictionaries(_ request: AnyFetchRequest) throws -> [NSDictionary] {
    let plan = try plan(for: request)
    let columns = try DictionaryColumns(request, plan.layout, in: self)
    guard let coordinator = persistentStoreCoordinator else { return [] }
    let rows = try coordinator.fetch(plan, in: request.affectedStores).map { try columns.dictionary(for: $0) }
    guard request.returnsDistinctResults else { return rows }
    var seen = Set<NSDictionary>()
    return rows.filter { seen.insert($0).inserted }
  }

  // MARK: Plan

  /// The request resolved against the model.
  final func plan(for request: AnyFetchRequest) throws -> FetchPlan {
    guard let model = frozen else {
      throw CocoaError.coreData(
        NSCoreDataError, "\(label) has neither coordinator nor parent; set one before fetching from it.")
    }
    let entity = try request.resolvedEntity(in: model)
    var plan = FetchPlan(layout: entity.layout)
    plan.includesSubentities = request.includesSubentities
    do {
      if let predicate = request.predicate { plan.predicate = try PredicateTree(predicate) }
      if let descriptors = request.sortDescriptors { plan.sort = try descriptors.map { try $0.sortTerm() } }
    } catch {
      throw CocoaError.coreData(NSCoreDataError, "The fetch of '\(entity.name ?? "?")' cannot be carried out: \(error)")
    }
    plan.limit = max(0, request.fetchLimit)
    plan.offset = max(0, request.fetchOffset)
    return plan
  }
}
