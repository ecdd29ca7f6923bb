import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

// Batch requests: resolved against the model here, carried out by the coordinator's stores.

extension NSBatchInsertRequest: ExecutableRequest {
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let coordinator = try context.requestedCoordinator(for: self)
    let entity = try context.batchEntity(entity, named: entityName)
    guard !entity.layout.isAbstract else {
      throw CocoaError.coreData(
        NSCoreDataError,
        "'\(entityName)' is abstract and has no objects of its own; insert objects of a subentity.")
    }
    let collision: BatchInsertPlan.Collision =
      switch context.policy.mergeType {
      case .errorMergePolicyType: .fail
      case .mergeByPropertyObjectTrumpMergePolicyType, .overwriteMergePolicyType: .update
      case .mergeByPropertyStoreTrumpMergePolicyType, .rollbackMergePolicyType: .skip
      }
    let rows = BatchRows(self, entity)
    let plan = BatchInsertPlan(layout: entity.layout, collision: collision) { try rows.next() }
    // Rows can be made only once, so they go to one store, as a new object does.
    let store = try coordinator.batchStores(self, for: entity).first { !$0.store.isReadOnly }
    guard let store else {
      throw CocoaError.coreData(
        NSPersistentStoreSaveError,
        "No writable store of the coordinator, or of those asked, takes entity '\(entityName)'.")
    }
    let outcome = try coordinator.perform([store]) { engine in
      try engine.insert(plan, needsKeys: resultType == .objectIDs, by: context.origin)
    }
    switch resultType {
    case .statusOnly: return NSBatchInsertResult(true, resultType)
    case .objectIDs: return NSBatchInsertResult(outcome.keys.map { NSManagedObjectID($0) }, resultType)
    case .count: return NSBatchInsertResult(outcome.count, resultType)
    }
  }
}

extension NSBatchUpdateRequest: ExecutableRequest {
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let coordinator = try context.requestedCoordinator(for: self)
    let entity = try context.batchEntity(givenEntity, named: entityName)
    let request = AnyFetchRequest()
    request.entity = entity
    request.predicate = predicate
    request.includesSubentities = includesSubentities
    let rows = try context.plan(for: request)
    let assignments = try context.assignments(propertiesToUpdate ?? [:], entity, coordinator)
    let plan = BatchUpdatePlan(rows: rows, assignments: assignments)
    let stores = try coordinator.batchStores(self, for: entity)
    let outcome = try coordinator.perform(stores, keepingRows: true) { engine in
      try engine.update(plan, needsKeys: resultType == .updatedObjectIDsResultType, by: context.origin)
    }
    switch resultType {
    case .statusOnlyResultType: return NSBatchUpdateResult(true, resultType)
    case .updatedObjectIDsResultType:
      return NSBatchUpdateResult(outcome.keys.map { NSManagedObjectID($0) }, resultType)
    case .updatedObjectsCountResultType: return NSBatchUpdateResult(outcome.count, resultType)
    }
  }
}

extension NSBatchDeleteRequest: ExecutableRequest {
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let coordinator = try context.requestedCoordinator(for: self)
    guard givenFetch.entityName != nil else {
      // Made with no object IDs at all: there is nothing to delete.
      return _result(BatchOutcome())
    }
    let plan = try context.plan(for: givenFetch)
    let entity = try context.batchEntity(nil, named: plan.layout.entityName)
    let stores = try coordinator.batchStores(self, for: entity, or: givenFetch.affectedStores)
    let outcome = try coordinator.perform(stores) { engine in
      try engine.delete(plan, needsKeys: resultType == .resultTypeObjectIDs, by: context.origin)
    }
    return _result(outcome)
  }

  private func _result(_ outcome: BatchOutcome) -> NSBatchDeleteResult {
    switch resultType {
    case .resultTypeStatusOnly: NSBatchDeleteResult(true, resultType)
    case .resultTypeObjectIDs: NSBatchDeleteResult(outcome.keys.map { NSManagedObjectID($0) }, resultType)
    case .resultTypeCount: NSBatchDeleteResult(outcome.count, resultType)
    }
  }
}

extension NSManagedObjectContext {
  /// Who changes something, for histories: the context at the root, which writes for its children.
  final var origin: ChangeOrigin {
    var root = self
    while let parent = root._parent { root = parent }
    return ChangeOrigin(author: root.transactionAuthor, contextName: root.name)
  }

  /// The model's entity for a batch request.
  fileprivate final func batchEntity(_ entity: NSEntityDescription?, named name: String) throws
    -> NSEntityDescription
  {
    guard let model = frozen else {
      throw CocoaError.coreData(
        NSCoreDataError, "\(label) has neither coordinator nor parent; set one before using it.")
    }
    let request = entity == nil ? AnyFetchRequest(entityNamed: name) : AnyFetchRequest()
    if let entity { request.entity = entity }
    return try request.resolvedEntity(in: model)
  }

  /// What a batch update sets, resolved.
  fileprivate final func assignments(
    _ properties: [AnyHashable: Any], _ entity: NSEntityDescription,
    _ coordinator: NSPersistentStoreCoordinator
  ) throws -> [BatchUpdatePlan.Assignment] {
    let layout = entity.layout
    func refuse(_ what: String) -> CocoaError {
      CocoaError.coreData(NSCoreDataError, "The batch update of '\(layout.entityName)' \(what).")
    }
    guard !properties.isEmpty else { throw refuse("sets nothing; give it propertiesToUpdate") }
    var result: [BatchUpdatePlan.Assignment] = []
    for (key, value) in properties {
      let name = (key.base as? NSPropertyDescription)?.name ?? key.base as? String
      guard let name, let slot = layout.slot(named: name) else {
        throw refuse("sets '\(name ?? "\(key.base)")', which the entity does not have")
      }
      let description = layout.slots[slot]
      guard !description.isTransient, !description.isToMany, !(description.attribute?.isDerived ?? false),
        description.type != .composite
      else {
        throw refuse("cannot set '\(name)': only stored attributes and to-one relationships can be set")
      }
      result.append(
        BatchUpdatePlan.Assignment(slot: slot, source: try _source(value, slot, entity, coordinator, refuse)))
    }
    // In the order of the slots, so that the same request is the same SQL.
    return result.sorted { $0.slot < $1.slot }
  }

  private final func _source(
    _ value: Any, _ slot: Int, _ entity: NSEntityDescription, _ coordinator: NSPersistentStoreCoordinator,
    _ refuse: (String) -> CocoaError
  ) throws -> BatchUpdatePlan.Source {
    var value: Any? = value
    if let expression = value as? NSExpression {
      let tree = try expression.tree.forStores
      guard case .constant(let constant) = tree else { return .expression(tree) }
      value = constant.any
    }
    let name = entity.layout.slots[slot].name
    if let coding = entity.shape.codings[slot] {
      do {
        return .value(try coding.stored(value))
      } catch {
        throw refuse("cannot set '\(name)': \(error)")
      }
    }
    let id: NSManagedObjectID?
    switch value {
    case nil, is NSNull: return .value(.null)
    case let object as NSManagedObject: id = object.objectID
    case let given as NSManagedObjectID: id = given
    default:
      throw refuse(
        "cannot set '\(name)' to a \(type(of: value!)): it takes an object, an object ID or NSNull")
    }
    guard let key = id?.key, let local = coordinator.localized(key) else {
      throw refuse(
        "cannot set '\(name)' to an object that is not saved, or not in a store of this coordinator")
    }
    return .value(.reference(local))
  }
}

extension NSPersistentStoreCoordinator {
  /// A store with the engine that carries out batch requests.
  struct BatchStore {
    let store: NSPersistentStore
    let engine: any BatchCapable
  }

  /// Stores that a batch request goes to: those it names, or all that take the entity.
  ///
  /// - Throws: A Cocoa error (134091) when one of them cannot carry out batch requests.
  fileprivate final func batchStores(
    _ request: NSPersistentStoreRequest, for entity: NSEntityDescription,
    or others: [NSPersistentStore]? = nil
  ) throws -> [BatchStore] {
    let affected = request.affectedStores ?? others
    let stores = persistentStores.filter { store in
      (affected?.contains { $0 === store } ?? true) && store.takes(entity.name ?? "")
    }
    return try stores.map { store in
      guard let engine = store.engine as? any BatchCapable else {
        throw CocoaError.coreData(
          NSPersistentStoreUnsupportedRequestTypeError,
          "A store of type '\(store.type)' does not carry out a \(type(of: request)); only SQLite stores do. Name those in "
            + "affectedStores, or make the change in a context.", [NSAffectedStoresErrorKey: [store]])
      }
      return BatchStore(store: store, engine: engine)
    }
  }

  /// Carries out a batch in each of the stores.
  ///
  /// - Parameter keepsRows: Whether cached rows stay as they were read. So an object shows an update only when
  ///   it is merged, fetched anew or refreshed with a `stalenessInterval` that has passed, as in Core Data.
  fileprivate final func perform(
    _ stores: [BatchStore], keepingRows keepsRows: Bool = false,
    _ body: (any BatchCapable) throws -> BatchOutcome
  ) throws -> BatchOutcome {
    var total = BatchOutcome()
    defer {
      // Which rows are concerned is not always known.
      if keepsRows { rowCache.commit(written: [], deleted: []) } else { rowCache.removeAll() }
    }
    for store in stores {
      guard !store.store.isReadOnly else {
        throw CocoaError.coreData(
          NSPersistentStoreSaveError,
          "The store at \(store.store.url?.path ?? "memory") is read-only; add it without "
            + "NSReadOnlyPersistentStoreOption to change it.", [NSAffectedStoresErrorKey: [store.store]])
      }
      do {
        let outcome = try StoreErrors.translating(url: store.store.url) { try body(store.engine) }
        total.count += outcome.count
        total.keys += outcome.keys
      } catch {
        throw Self._refined(error)
      }
    }
    return total
  }

  /// What a batch breaks, under Core Data's codes.
  private static func _refined(_ error: any Error) -> any Error {
    switch (error as NSError).userInfo[NSUnderlyingErrorKey] {
    case let constraint as BatchConstraintError:
      CocoaError.coreData(
        NSManagedObjectConstraintMergeError, "\(constraint).", [NSUnderlyingErrorKey: constraint])
    case let inverse as BatchInverseError:
      CocoaError.coreData(
        NSPersistentStoreSaveConflictsError, "\(inverse).",
        [NSLocalizedFailureReasonErrorKey: inverse.reason, NSUnderlyingErrorKey: inverse])
    default: error
    }
  }

  final func carryOut(_ request: NSPersistentStoreRequest, in context: NSManagedObjectContext) throws -> Any {
    let result = try context.execute(request)
    guard let fetched = result as? any FetchedArray else { return result }
    return fetched.fetchedArray
  }
}

/// A result that is the array of what a fetch has found.
private protocol FetchedArray {
  var fetchedArray: [Any] { get }
}

extension NSAsynchronousFetchResult: FetchedArray {
  fileprivate var fetchedArray: [Any] { finalResult ?? [] }
}
