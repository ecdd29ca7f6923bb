import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

// Resolves batch requests against the model; the coordinator's stores execute them.

extension NSBatchInsertRequest: ExecutableRequest {
  func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
    let coordinator = try context.requestedCoordinator(for: self)
    let entity = try BatchResolution(context: context).entity(entity, named: entityName)
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
    // Rows can be created only once, so they go to one store, like a new object.
    let stores = try coordinator._batchStores(self, for: entity)
    guard let store = stores.first(where: { !$0.store.isReadOnly }) else {
      if let store = stores.first { throw store.store.readOnlyError("insert into it") }
      throw CocoaError.coreData(
        NSPersistentStoreSaveError,
        "No store of the coordinator, or of those asked, takes entity '\(entityName)'.")
    }
    let outcome = try coordinator._perform([store]) { engine in
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
    let entity = try BatchResolution(context: context).entity(givenEntity, named: entityName)
    let request = AnyFetchRequest()
    request.entity = entity
    request.predicate = predicate
    request.includesSubentities = includesSubentities
    let rows = try FetchPass(context).plan(for: request)
    let assignments = try BatchResolution(context: context).assignments(
      propertiesToUpdate ?? [:], entity, coordinator)
    let plan = BatchUpdatePlan(rows: rows, assignments: assignments)
    let stores = try coordinator._batchStores(self, for: entity)
    let outcome = try coordinator._perform(stores, keepingRows: true) { engine in
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
      // Created with an empty list of object IDs: nothing to delete.
      return _result(BatchOutcome())
    }
    let plan = try FetchPass(context).plan(for: givenFetch)
    let entity = try BatchResolution(context: context).entity(nil, named: plan.layout.entityName)
    let stores = try coordinator._batchStores(self, for: entity, or: givenFetch.affectedStores)
    let outcome = try coordinator._perform(stores) { engine in
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
  /// The author of changes for histories: the root context, which writes for its children.
  final var origin: ChangeOrigin {
    var root = self
    while let parent = root._parent { root = parent }
    return ChangeOrigin(author: root.transactionAuthor, contextName: root.name)
  }
}

/// Resolves what a batch request names against the model of a context.
private struct BatchResolution {
  let context: NSManagedObjectContext

  /// Returns the model's entity for a batch request.
  func entity(_ entity: NSEntityDescription?, named name: String) throws
    -> NSEntityDescription
  {
    guard let model = context.frozen else {
      throw CocoaError.coreData(
        NSCoreDataError, "\(context.label) has neither coordinator nor parent; set one before using it.")
    }
    let request = entity == nil ? AnyFetchRequest(entityNamed: name) : AnyFetchRequest()
    if let entity { request.entity = entity }
    return try request.resolvedEntity(in: model)
  }

  /// Resolves the assignments of a batch update.
  func assignments(
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
      guard !description.isTransient, !description.isToMany, !description.isDerived,
        description.type != .composite
      else {
        throw refuse("cannot set '\(name)': only stored attributes and to-one relationships can be set")
      }
      result.append(
        BatchUpdatePlan.Assignment(slot: slot, source: try _source(value, slot, entity, coordinator, refuse)))
    }
    // Sorted by slot, so that equal requests produce equal SQL.
    return result.ordered { $0.slot < $1.slot }
  }

  private func _source(
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
  /// A store and its engine, which executes batch requests.
  struct BatchStore {
    let store: NSPersistentStore
    let engine: any BatchCapable
  }

  /// Returns the stores of a batch request: the given ones, or all that hold the entity.
  ///
  /// - Throws: A Cocoa error (134091) if one of them does not support batch requests.
  fileprivate final func _batchStores(
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

  /// Executes a batch in each of the stores.
  ///
  /// - Parameter keepsRows: Whether cached rows stay unchanged. An object then shows an update only once it
  ///   is merged, fetched again or refreshed after its `stalenessInterval`, as in Core Data.
  fileprivate final func _perform(
    _ stores: [BatchStore], keepingRows keepsRows: Bool = false,
    _ body: (any BatchCapable) throws -> BatchOutcome
  ) throws -> BatchOutcome {
    var total = BatchOutcome()
    defer {
      // The affected rows are not always known.
      if keepsRows { rowCache.discardReads() } else { rowCache.removeAll() }
    }
    for store in stores {
      guard !store.store.isReadOnly else { throw store.store.readOnlyError("change it") }
      do {
        let outcome = try StoreErrors.translating(url: store.store.url) { try body(store.engine) }
        total.count += outcome.count
        if total.keys.isEmpty { total.keys = outcome.keys } else { total.keys += outcome.keys }
      } catch {
        throw Self._refined(error)
      }
    }
    return total
  }

  /// Maps constraint violations of a batch to Core Data's error codes.
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

/// A result that is the array of fetched results.
private protocol FetchedArray {
  var fetchedArray: [Any] { get }
}

extension NSAsynchronousFetchResult: FetchedArray {
  fileprivate var fetchedArray: [Any] { finalResult ?? [] }
}
