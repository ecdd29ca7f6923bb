import CoreDataModelSchema
import Foundation

// Looking up, creating and releasing registered objects.

extension NSManagedObjectContext {
  /// The context's model; nil without a coordinator or with an invalid model.
  @inline(__always)
  final var frozen: FrozenModel? {
    if let known = memo.model { return known }
    memo.model = persistentStoreCoordinator?.frozen
    return memo.model
  }

  /// Returns the ID space that all temporary IDs of an entity share.
  final func temporarySpace(_ entity: NSEntityDescription, _ layout: PropertyLayout) -> ObjectIDSpace {
    memo.temporarySpace(entity, layout)
  }

  /// A new object's default values, packed as its store does it; nil if the store does not pack them.
  @inline(__always)
  final func newDraft(of shape: FrozenEntity) -> Row? {
    guard let coordinator = rootCoordinator else { return nil }
    return memo.newDraft(of: shape, in: coordinator)
  }

  // MARK: Look-ups

  final func registered(_ objectID: NSManagedObjectID) -> NSManagedObject? {
    checkQueue()
    let id = localized(objectID)
    if let object = heldObject(for: id) { return object }
    // The object comes from a child's save: it is unsaved in this context and therefore registered, but
    // created lazily.
    guard let entry = overlay.layers.entry(for: IdentityKey(id)), entry.kind != .insertedThenDeleted else {
      return nil
    }
    return links.materialize(entry)
  }

  final func objectOrFault(_ objectID: NSManagedObjectID) -> NSManagedObject {
    checkQueue()
    let id = localized(objectID)
    return heldObject(for: id) ?? makeFault(id)
  }

  final func storedObject(_ objectID: NSManagedObjectID) throws -> NSManagedObject {
    checkQueue()
    try checkReadFailures()
    let id = localized(objectID)
    let object: NSManagedObject
    var isAlone = false
    if let known = heldObject(for: id) {
      object = known
    } else if !overlay.layers.isEmpty {
      object = makeFault(id)
    } else {
      // Not created as part of a batch.
      object = make(id, row: nil)
      isAlone = true
    }
    // Values attached before do not tell whether the row is still there; the row cache drops what is deleted.
    if object.isFault, object._row != nil, object._draft == nil, let key = object._key {
      checkFreshness()
      if rootCoordinator?.cachedRow(for: key, at: readGeneration, readSince: earliestRow) == nil {
        object.attach(nil)
      }
    }
    if object.isFault, object._row == nil, try !FaultPass(self).load(object, alone: isAlone, checking: true) {
      forget(object)
      throw CocoaError.coreData(
        NSManagedObjectReferentialIntegrityError,
        "No object \(objectID.uriRepresentation().absoluteString) exists in the store; it may have been deleted.",
        [NSAffectedObjectsErrorKey: [objectID]])
    }
    object.fireFault()
    return object
  }

  final func allRegistered() -> Set<NSManagedObject> {
    checkQueue()
    sweep()
    links.materializeAdopted()
    var objects = Set<NSManagedObject>(minimumCapacity: table.count)
    table.forEach { objects.insert($0) }
    return objects
  }

  final var hasUnsavedChanges: Bool {
    checkQueue()
    if !overlay.layers.isEmpty || !unreadDeletions.isEmpty { return true }
    return unsaved.contains { $0.isDirty }
  }

  final func pending(_ flag: ObjectFlags) -> Set<NSManagedObject> {
    checkQueue()
    var result = Set<NSManagedObject>()
    _forEachPending { object in
      guard object._flags.contains(flag) else { return }
      if flag == .updated, !object._flags.isDisjoint(with: [.inserted, .deleted]) { return }
      if flag == .inserted, object._flags.contains(.deleted) { return }
      result.insert(object)
    }
    return result
  }

  /// Returns the objects that the next save inserts, updates and deletes, in one pass.
  package final func pendingObjects() -> (
    inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject]
  ) {
    checkQueue()
    var found: (inserted: [NSManagedObject], updated: [NSManagedObject], deleted: [NSManagedObject]) = (
      [], [], []
    )
    _forEachPending { object in
      if object._flags.isDisjoint(with: [.inserted, .updated, .deleted]) { return }
      if object._flags.contains(.deleted) {
        found.deleted.append(object)
      } else if object._flags.contains(.inserted) {
        found.inserted.append(object)
      } else {
        found.updated.append(object)
      }
    }
    return found
  }

  /// Calls a closure for each object with unsaved state, of the context itself or of children's saves.
  private final func _forEachPending(_ body: (NSManagedObject) -> Void) {
    let adopted = adoptedObjects()
    unsaved.objects.forEach(body)
    adopted.forEach(body)
  }

  /// Returns the objects with state of children's saves that the context itself has not changed.
  final func adoptedObjects() -> [NSManagedObject] {
    let layers = overlay.layers
    if layers.isEmpty { return [] }
    return layers.composedEntries.compactMap { entry in
      guard entry.kind != .insertedThenDeleted else { return nil }
      let object = links.materialize(entry)
      return object._flags.contains(.adopted) && !object._flags.contains(.listed) ? object : nil
    }
  }

  // MARK: Identity

  /// Returns the ID of the same object in this context's coordinator. Each coordinator has separate entity
  /// descriptions, even for the same file.
  final func localized(_ id: NSManagedObjectID) -> NSManagedObjectID {
    guard let coordinator = rootCoordinator else { return id }
    let version = coordinator.storesVersion.load(ordering: .acquiring)
    if memo.localSpace.storesVersion == version, memo.localSpace.space === id.space { return id }
    guard let key = id.key, let local = coordinator.localized(key) else { return id }
    if local.space !== id.space { return NSManagedObjectID(local) }
    memo.localSpace = (local.space, version)
    return id
  }

  final func localized(_ key: ObjectKey) -> ObjectKey {
    persistentStoreCoordinator?.localized(key) ?? key
  }

  /// Returns the registered object that a to-one value refers to, if any. A value saved together with its
  /// target still has the target's temporary ID.
  @inline(__always)
  final func registered(in value: Value) -> NSManagedObject? {
    switch value {
    case .reference(let key): table.object(for: key)
    case .pending(let id): table.object(for: id)
    default: nil
    }
  }

  final func object(for key: ObjectKey) -> NSManagedObject {
    if let object = heldObject(for: IdentityKey(key)) { return object }
    return makeFault(localized(key))
  }

  /// - Parameter isInBatches: Whether the caller records which faults load together.
  final func object(for key: ObjectKey, inBatches isInBatches: Bool) -> NSManagedObject {
    let hashed = IdentityKey(key)
    if let object = heldObject(for: hashed) { return object }
    if let entry = overlay.layers.entry(for: hashed) { return links.materialize(entry) }
    let object = make(key, hashed, row: nil)
    if !isInBatches { faultBatch.add(key) }
    return object
  }

  /// Returns the ID already in use for a key, which avoids duplicate ID objects.
  final func id(for key: ObjectKey) -> NSManagedObjectID? { table.object(for: key)?._objectID }

  // MARK: Making

  /// Registers a new object for `id`: with the unsaved state of a child's save, or as a fault.
  final func makeFault(_ id: NSManagedObjectID) -> NSManagedObject {
    if let entry = overlay.layers.entry(for: IdentityKey(id)) { return links.materialize(entry) }
    let object = make(id, row: nil)
    faultBatch.add(object)
    return object
  }

  /// Registers a new object for `key`, as `makeFault(_:)` does for an ID.
  final func makeFault(_ key: ObjectKey) -> NSManagedObject { object(for: key, inBatches: false) }

  /// Registers a new fault. `row`, if known, holds the values that firing shows.
  final func make(_ id: NSManagedObjectID, row: Row?) -> NSManagedObject {
    let object = ObjectMaker.make(id.entity)
    object.identify(as: id)
    object.beginAsFault(of: self, row: row)
    table.insert(object)
    return object
  }

  // MARK: Releasing

  /// Unregisters an object, which then belongs to no context.
  final func forget(_ object: NSManagedObject) {
    table.remove(object)
    object.leaveContext()
    object._state.leaveContext()
  }

  /// Whether releasing the object would lose state.
  final func isNeeded(_ object: NSManagedObject) -> Bool {
    retainsRegisteredObjects
      || !object._flags.isDisjoint(with: [.listed, .eventListed, .locked, .adopted])
  }

  /// Returns the registered object of this ID if it is referenced outside the registry or has unsaved state.
  /// Unregisters any other object: Core Data would have deallocated it, so it must not reappear with stale
  /// values.
  @inline(__always)
  final func heldObject(for id: NSManagedObjectID) -> NSManagedObject? {
    if !saving.retained.isEmpty { releaseSavedObjects() }
    guard let (object, isOnlyHolder) = table.objectAndHold(for: id) else { return nil }
    return isOnlyHolder ? _unlessLetGo(object) : object
  }

  /// Returns the registered object of this key, under the rules of `heldObject(for:)` for IDs.
  @inline(__always)
  final func heldObject(for key: IdentityKey) -> NSManagedObject? {
    if !saving.retained.isEmpty { releaseSavedObjects() }
    guard let (object, isOnlyHolder) = table.objectAndHold(for: key) else { return nil }
    return isOnlyHolder ? _unlessLetGo(object) : object
  }

  private final func _unlessLetGo(_ object: NSManagedObject) -> NSManagedObject? {
    // A save or a change notification in progress may look the object up again.
    if saving.isActive || events.isProcessing || isNeeded(object) {
      return object
    }
    table.remove(object)
    object.leaveContext()
    return nil
  }

  /// Releases the objects written by the last save, unless an insertion is pending: Core Data then retains
  /// them until the next clean save.
  final func releaseSavedObjects() {
    if !unsaved.hasInsertions { saving.retained = [] }
  }

  final func sweepIfDue() {
    if table.isSweepDue { sweep() }
  }

  /// Schedules a sweep. Releasing the objects of a change notification takes time, and no caller depends on
  /// it.
  final func sweepSoonIfDue() {
    guard table.isSweepDue else { return }
    if concurrencyType == .confinement { return sweep() }
    let context = WeakContext(context: self)
    queue.async { context.context?.sweepIfDue() }
  }

  /// Unregisters objects that only the registry references and that have no unsaved state.
  final func sweep() {
    guard !retainsRegisteredObjects, !saving.isActive, !events.isProcessing else { return }
    releaseSavedObjects()
    var mayFreeMore = true
    while mayFreeMore {
      let dead = table.removeUnheld(unless: isNeeded)
      mayFreeMore = false
      for object in dead {
        object._withUnsafeGuaranteedRef { object in
          // Objects that it referenced may then be unreferenced.
          if object._relations != nil { mayFreeMore = true }
          object.leaveContext()
        }
        object.release()
      }
    }
  }
}

extension NSManagedObjectContext {
  /// Returns the entity of class `type` in the context's model.
  final func onlyEntity(of type: NSManagedObject.Type) -> NSEntityDescription {
    if let known = memo.entity, known.shape.objectClass == type { return known }
    let entity = _onlyEntity(of: type)
    memo.entity = entity
    return entity
  }

  private final func _onlyEntity(of type: NSManagedObject.Type) -> NSEntityDescription {
    guard let coordinator = persistentStoreCoordinator else {
      programmerError("\(label) has no coordinator, so that the entity of \(type) cannot be found.")
    }
    let found = coordinator.model.entities.filter { $0.shape.objectClass == type }
    guard found.count == 1 else {
      programmerError(
        found.isEmpty
          ? "no entity of the model has the class \(type). Set managedObjectClassName of its entity."
          : "several entities have the class \(type): \(found.compactMap(\.name).joined(separator: ", ")). Name one with "
            + "init(entity:insertInto:).")
    }
    return found[0]
  }
}
