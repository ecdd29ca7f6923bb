import CoreDataModelSchema
import Foundation

// A save as passes over plain values: hooks, validation, entries, upstream, and what objects learn from it.

extension NSManagedObjectContext {
  final func saveChanges() throws {
    guard !savePass.isActive else {
      throw CocoaError.coreData(
        CoreDataErrorCode.recursiveSave,
        "\(label) was asked to save while it is saving. Do not save in willSave, didSave or a notification it posts.",
        ["message": "attempt to recursively call -save: on the context aborted"])
    }
    savePass.isActive = true
    defer { savePass.isActive = false }
    processPendingChanges()
    NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
    try runSaveHooks()
    let layer = try collectLayer()
    if let parent = _parent {
      if !layer.entries.isEmpty { handUp(layer, to: parent) }
      let locks = lockedObjects.map { (id: $0._objectID, row: $0._row) }
      if !locks.isEmpty { parent.queue.sync { parent.adoptLocks(locks) } }
      finishSave(layer.entries)
    } else {
      let saved = try commit(layer.entries)
      Interleaving.reach(.commit)
      advanceGeneration()
      finishSave(saved)
    }
  }

  /// Hands the saved layer up to the parent. The layer was built and indexed here; the parent's queue only
  /// accepts it.
  ///
  /// Waits for the parent's turn, so that it has announced the changes when the save returns. The main queue
  /// does not wait for a parent that may be writing to disk: an idle parent accepts the changes on the main
  /// thread; a busy one gets a delivery, which readers see at once and the parent accepts first in its next
  /// turn.
  private final func handUp(_ layer: Layer, to parent: NSManagedObjectContext) {
    let accept = {
      parent.accept(layer) { parent.overlay.push($0) }
    }
    guard !parent.queue.isCurrent, ContextQueue.isOnMainQueue else { return parent.queue.sync(accept) }
    // Announcing makes an object for each change; of many the main queue is spared that.
    if layer.entries.count <= Self.mostAnnouncedOnMain, parent.queue.runIfIdle(accept) { return }
    Interleaving.reach(.deliver)
    parent.overlay.deliver(layer)
    Interleaving.reach(.deliver)
    parent.queue.async {}
  }

  /// Changes of a save on the main queue that a parent announces there, rather than on its own queue.
  static let mostAnnouncedOnMain = 100

  // MARK: Entries

  /// Own changed objects: nearly always all that are listed.
  final var changedObjects: [NSManagedObject] {
    unsaved.objects.allHeld { $0.isDirty } ? unsaved.objects : unsaved.objects.filter(\.isDirty)
  }

  /// The unsaved state as values: own objects', then what children have saved up.
  final func collectLayer() throws -> Layer {
    let layers = overlay.layers
    let own = changedObjects
    // Only what one child has saved: handed on by reference.
    if own.isEmpty, layers.count == 1, !layers[0].hasAnnihilated { return layers[0] }
    try loadTouchedFaults(own)
    var entries: [Layer.Entry] = []
    entries.reserveCapacity(own.count)
    if !layers.isEmpty {
      // Children's changes came first.
      for entry in layers.composedEntries where entry.kind != .annihilated {
        if let object = table.object(for: entry.id), object._flags.contains(.listed) { continue }
        entries.append(entry)
      }
    }
    try own.forEachHeld { object in
      if let entry = try savedEntry(for: object) { entries.append(entry) }
    }
    return Layer(entries, isIndexed: _parent != nil)
  }

  /// Objects changed only from the other end of a relationship have no values yet; they are read together.
  private final func loadTouchedFaults(_ objects: [NSManagedObject]) throws {
    if objects.allHeld({ $0._row != nil || $0._flags.contains(.inserted) }) { return }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      faultBatch.add(object)
    }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      _ = try load(object)
    }
  }

  final func savedEntry(for object: NSManagedObject) throws -> Layer.Entry? {
    // A save that failed may have left it.
    object._state.beginSave()
    if object._flags.contains(.deleted) {
      if !object._flags.isDisjoint(with: [.inserted, .vanished]) { return nil }
      return Layer.Entry(
        kind: .deleted, id: object._objectID, base: object._row, row: nil, changed: SlotSet(), isWhole: false)
    }
    do {
      try object.encodeTransformables()
    } catch {
      throw CocoaError.coreData(NSCoreDataError, "\(error)", [NSValidationObjectErrorKey: object])
    }
    if object._flags.contains(.inserted) {
      return Layer.Entry(
        kind: .inserted, id: object._objectID, base: nil, row: object.handOutDraft(toStore: _parent == nil),
        changed: object._changed, isWhole: false)
    }
    guard let base = object._row else { return nil }
    let changed = object.differingSlots
    // Transient values go up to a parent, but not into a store.
    guard !changed.isEmpty, _parent != nil || _isStored(changed, object._layout) else { return nil }
    object._state.write()
    return Layer.Entry(
      kind: .updated, id: object._objectID, base: base, row: object.handOutDraft(toStore: _parent == nil),
      changed: changed, isWhole: false)
  }

  private final func _isStored(_ changed: SlotSet, _ layout: PropertyLayout) -> Bool {
    if !layout.hasTransients { return true }
    var isStored = false
    changed.forEach { if !layout.slots[$0].isTransient { isStored = true } }
    return isStored
  }

  /// Key, in did-save notifications, of the place in history that the save has led to; as Core Data spells
  /// it.
  static let changeTokenKey = "newChangeToken"

  // MARK: Afterwards

  /// Objects take what was saved as their last saved state; then observers are notified.
  private final func finishSave(_ entries: [Layer.Entry]) {
    let own = unsaved.drain()
    let hadAdopted = !overlay.layers.isEmpty
    overlay.clear()
    overlay.markFresh(upTo: overlay.noted)
    savePass.retained = own
    let announced = consumeAnnounced(own, hadAdopted)
    var sets = announced ?? EventSets()
    if announced == nil {
      sets.inserted.reserveCapacity(entries.count(where: { $0.kind == .inserted }))
      sets.updated.reserveCapacity(entries.count(where: { $0.kind == .updated }))
    }
    var unwritten: [Layer.Entry] = []
    own.forEachHeld { object in
      guard object.isDirty else { return }
      if object._flags.contains(.deleted) {
        if !object._flags.contains(.inserted) { sets.deleted.insert(object) }
      } else if object._flags.contains(.inserted) {
        if announced == nil { sets.inserted.insert(object) }
      } else {
        if object._flags.contains(.reinserted) {
          sets.inserted.insert(object)
        } else if announced == nil {
          sets.updated.insert(object)
        }
        // Nothing to write, but told like the others: what a child knows of the object may be what was taken
        // back here.
        if !object._flags.contains(.written), let row = object._row {
          unwritten.append(
            Layer.Entry(
              kind: .updated, id: object._objectID, base: row, row: row, changed: object._changed,
              isWhole: false))
        }
      }
      markSaved(object, row: nil)
    }
    let adopted = hadAdopted ? entries : []
    adopted.forEachHeld { entry in
      guard let object = table.object(for: entry.id), object._flags.contains(.adopted) else { return }
      switch entry.kind {
      case .inserted: sets.inserted.insert(object)
      case .updated: sets.updated.insert(object)
      case .deleted: sets.deleted.insert(object)
      case .annihilated: break
      }
      // A store has written what it had, with the change; a parent only takes the change.
      markSaved(object, row: _parent == nil ? entry.row : object._draft ?? entry.row)
    }
    own.forEachHeld { $0._state.endSave() }
    let changes = SavedChanges(
      unwritten.isEmpty ? entries : entries + unwritten, isStored: _parent == nil, context: self)
    announce(sets, changes)
  }

  /// The sets of the last announcement, if the save tells of the same objects in the same way. A bulk import
  /// announces all it has made once, right before it is saved.
  private final func consumeAnnounced(_ own: [NSManagedObject], _ hadAdopted: Bool) -> EventSets? {
    defer { events.announced = nil }
    guard let sets = events.announced, !hadAdopted, sets.holdsAll(own) else { return nil }
    // Announced as inserted are only objects that are; if as many are, they are the same.
    var inserted = 0
    let areAllSaved = own.allHeld { object in
      if object._flags.contains(.inserted) { inserted += 1 }
      return object.isDirty && !object._flags.contains(.deleted)
    }
    return areAllSaved && inserted == sets.inserted.count ? sets : nil
  }

  /// Clears the marks of an unsaved change once it is saved.
  private final func markSaved(_ object: NSManagedObject, row: Row?) {
    if object._flags.contains(.deleted) {
      // Others stay registered until their deletion has been announced.
      if object._flags.contains(.inserted) { table.remove(object) }
      object._state.commitDeletion()
      return
    }
    if let row {
      object._row = row
      object._draft = nil
    } else if !object._flags.isDisjoint(with: [.inserted, .written]) {
      if let draft = object._draft.take() { object._row = draft }
    } else if !object._layout.hasTransients {
      // Assigned, but to what it was: nothing was written.
      object._draft = nil
    }
    object._changed = SlotSet()
    object._state.commit()
    object._relations?.commit()
    // A root context's objects answer their permanent IDs from here on.
    if _parent == nil, let id = object._id, id.isTemporary, let permanent = id.permanent {
      object._id = permanent
    }
    if object._state.endYielding() { object.turnIntoFault(keeping: object._row) }
  }

  /// didSave, the notifications, and the contexts that merge by themselves.
  private final func announce(_ sets: EventSets, _ changes: SavedChanges) {
    for objects in [sets.inserted, sets.updated, sets.deleted] {
      for object in objects where object._shape.hooks.contains(.didSave) { object.didSave() }
    }
    var objects: [AnyHashable: Any] = [
      NSInsertedObjectsKey: sets.inserted, NSUpdatedObjectsKey: sets.updated,
      NSDeletedObjectsKey: sets.deleted,
    ]
    objects[SavedChanges.key] = changes
    let generation = generationRead
    if let generation { objects[NSManagedObjectContextQueryGenerationKey] = generation }
    if let token = savePass.token { objects[NSManagedObjectContext.changeTokenKey] = token }
    savePass.isActive = false
    sendForMerging(changes)
    tellObserversOfSave()
    NotificationCenter.default.post(name: .NSManagedObjectContextDidSave, object: self, userInfo: objects)
    func identities(_ objects: Set<NSManagedObject>) -> Set<NSManagedObjectID> {
      var ids = Set<NSManagedObjectID>(minimumCapacity: objects.count)
      for object in objects { ids.insert(object._objectID) }
      return ids
    }
    var ids: [AnyHashable: Any] = [
      NSInsertedObjectIDsKey: identities(sets.inserted), NSUpdatedObjectIDsKey: identities(sets.updated),
      NSDeletedObjectIDsKey: identities(sets.deleted),
    ]
    ids[SavedChanges.key] = changes
    if let generation { ids[NSManagedObjectContextQueryGenerationKey] = generation }
    if let token = savePass.token { ids[NSManagedObjectContext.changeTokenKey] = token }
    savePass.token = nil
    NotificationCenter.default.post(
      name: .NSManagedObjectContextDidSaveObjectIDs, object: self, userInfo: ids)
    unregisterDeleted(sets.deleted)
    if !changes.isEmpty { sweepIfDue() }
  }

  /// Has the contexts that merge by themselves take over what was saved. They are asked before the save is
  /// announced: a block that an observer sends to their queue then finds the changes merged.
  private final func sendForMerging(_ changes: SavedChanges) {
    guard !changes.isEmpty else { return }
    if _parent == nil { persistentStoreCoordinator?.broadcast(changes, from: self) }
    for child in mergingChildren() {
      child.queue.inTurn { child.merge(changes) }
    }
  }

  /// Lets go of objects whose deletion was saved. Until it has been announced, they are found under their IDs.
  private final func unregisterDeleted(_ objects: Set<NSManagedObject>) {
    // What an observer has brought back meanwhile stays.
    for object in objects where object._context === self && !object.hasChanges {
      table.remove(object)
      object._context = nil
    }
  }
}

extension Relations {
  func commit() { forEachToMany { _, state in state.commit() } }
}
