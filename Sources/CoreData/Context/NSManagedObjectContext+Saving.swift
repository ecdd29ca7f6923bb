import CoreDataModelSchema
import Foundation

// A save as passes over plain values: hooks, validation, entries, the write upstream, and the update of the
// saved objects.

extension NSManagedObjectContext {
  final func saveChanges() throws {
    guard !savePass.isActive else {
      throw CocoaError.coreData(
        CoreDataErrorCode.recursiveSave,
        "\(label) was asked to save while it is saving. Do not save in willSave, didSave or a notification it posts.",
        ["message": "attempt to recursively call -save: on the context aborted"])
    }
    savePass.isActive = true
    savePass.hasResolved = false
    savePass.skipsVanished = false
    defer { savePass.isActive = false }
    processPendingChanges()
    NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
    let layer = try _checkedLayer()
    if let parent = _parent {
      if !layer.entries.isEmpty { _handUp(layer, to: parent) }
      let locks = lockedObjects.map { (id: $0._objectID, row: $0._row) }
      if !locks.isEmpty { parent.queue.sync { parent.adoptLocks(locks) } }
      _noteRevocableDeletions(layer)
      _finishSave(layer.entries)
    } else {
      let saved = try commit(layer.entries)
      Interleaving.reach(.commit)
      advanceGeneration()
      let isFollowed = !savePass.followed.isEmpty
      _finishSave(saved)
      if isFollowed { processPendingChanges() }
    }
    assertNoGhosts()
  }

  /// Saves, with work of the program's in the transaction of one store, which has it even without changes.
  package final func save(with work: any StoreWork, in store: NSPersistentStore) throws {
    checkQueue()
    guard !savePass.isActive else { return try save() }
    savePass.work = (store, work)
    defer { savePass.work = nil }
    try save()
  }

  /// Saves the layer into the parent. The layer was built and indexed on this queue; the parent's queue only
  /// accepts it.
  ///
  /// Waits for the parent, which has announced the changes when the save returns. The main queue never waits
  /// for a parent that may be writing to disk: an idle parent accepts the changes on the main thread. A busy
  /// parent gets a delivery, which readers see immediately and which the parent accepts first in its next
  /// turn.
  private final func _handUp(_ layer: Layer, to parent: NSManagedObjectContext) {
    let accept = {
      parent.accept(layer) { parent.overlay.push($0) }
    }
    guard !parent.queue.isCurrent, ContextQueue.isOnMainQueue else { return parent.queue.sync(accept) }
    // Announcing creates an object per change; large saves spare the main queue that work.
    if layer.entries.count <= Self.mostAnnouncedOnMain, parent.queue.runIfIdle(accept) { return }
    Interleaving.reach(.deliver)
    parent.overlay.deliver(layer)
    Interleaving.reach(.deliver)
    parent.queue.async {}
  }

  /// Remembers the deletions that have been handed to the parent.
  private final func _noteRevocableDeletions(_ layer: Layer) {
    guard unsaved.hasDeletions || !overlay.layers.isEmpty, layer.entries.anyHeld({ $0.kind == .deleted })
    else { return }
    // What a discard brings back is looked up when the discard is merged.
    let isDiscarding = queue.changeMerges { $0.hasDiscards }
    let chain = ReadChain(above: self)
    for entry in layer.entries where entry.kind == .deleted {
      revocableDeletions.insert(entry.id) { isDiscarding || chain.deletes($0) }
    }
  }

  /// Largest number of changes that a parent announces on the main queue, when a child saves there.
  static let mostAnnouncedOnMain = 100

  // MARK: Entries

  /// Calls hooks, validates and collects the changes.
  private final func _checkedLayer() throws -> Layer {
    try checkChangesForReadFailures()
    do {
      try runSaveHooks()
      let layer = try collectLayer()
      try checkChangesForReadFailures()
      return layer
    } catch {
      // An object that could not be read misses values that its rules require.
      try checkChangesForReadFailures()
      throw error
    }
  }

  /// This context's changed objects: nearly always all that are listed.
  final var changedObjects: [NSManagedObject] {
    unsaved.objects.allHeld { $0.isDirty } ? unsaved.objects : unsaved.objects.filter(\.isDirty)
  }

  /// Collects the unsaved state as values: this context's objects, then the children's layers.
  final func collectLayer() throws -> Layer {
    let layers = overlay.layers
    let own = changedObjects
    // The only changes are one child's save: pass its layer on by reference.
    if own.isEmpty, layers.count == 1, !layers[0].hasAnnihilated { return layers[0] }
    try _loadTouchedFaults(own)
    var entries: [Layer.Entry] = []
    entries.reserveCapacity(own.count)
    if !layers.isEmpty {
      // Children saved before these changes.
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

  /// Loads faults that changed only from the other end of a relationship, in one batch.
  private final func _loadTouchedFaults(_ objects: [NSManagedObject]) throws {
    if objects.allHeld({ $0._row != nil || $0._flags.contains(.inserted) }) { return }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      faultBatch.add(object)
    }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      _ = try load(object)
    }
  }

  final func savedEntry(for object: NSManagedObject) throws -> Layer.Entry? {
    // A failed save may have left the flag.
    object._state.beginSave()
    if object._flags.contains(.deleted) {
      if object._flags.contains(.vanished) {
        savePass.skipsVanished = true
        return nil
      }
      if object._flags.contains(.inserted) { return nil }
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
    // Transient values are saved to a parent but not to a store.
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

  /// User info key of the history token in did-save notifications, as Core Data spells it.
  static let changeTokenKey = "newChangeToken"

  // MARK: Afterwards

  /// Makes the saved values each object's saved state, then notifies observers.
  private final func _finishSave(_ entries: [Layer.Entry]) {
    let hasDeletions = unsaved.hasDeletions
    let own = unsaved.drain()
    let hadAdopted = !overlay.layers.isEmpty
    let discarded = hadAdopted ? _unsavedEntries(entries, own, hasDeletions) : []
    overlay.clear()
    overlay.markFresh(upTo: overlay.noted)
    overlay.forgetUncounted()
    discard(discarded)
    savePass.retained = own
    let announced = _consumeAnnounced(own, hadAdopted)
    var sets = announced ?? EventSets()
    if announced == nil {
      sets.inserted.reserveCapacity(entries.count(where: { $0.kind == .inserted }))
      sets.updated.reserveCapacity(entries.count(where: { $0.kind == .updated }))
      sets.deleted.reserveCapacity(entries.count(where: { $0.kind == .deleted }))
    }
    var unwritten: [Layer.Entry] = []
    own.forEachHeld { object in
      guard object.isDirty else { return }
      if object._flags.contains(.deleted) {
        if announced == nil, !object._flags.contains(.inserted) { sets.deleted.insert(object) }
      } else if object._flags.contains(.inserted) {
        if announced == nil { sets.inserted.insert(object) }
      } else {
        if object._flags.contains(.reinserted) {
          sets.inserted.insert(object)
        } else if announced == nil {
          sets.updated.insert(object)
        }
        // Writes nothing, but is reported like the others: a child may have read the change that was reverted
        // here.
        if !object._flags.contains(.written), let row = object._row {
          unwritten.append(
            Layer.Entry(
              kind: .updated, id: object._objectID, base: row, row: row, changed: object._changed,
              isWhole: false))
        }
      }
      _markSaved(object, row: nil)
    }
    unwritten += savePass.linked.compactMap(\.entry)
    savePass.linked = []
    let adopted = hadAdopted ? entries : []
    adopted.forEachHeld { entry in
      guard let object = table.object(for: entry.id), object._flags.contains(.adopted) else { return }
      switch entry.kind {
      case .inserted: sets.inserted.insert(object)
      case .updated: sets.updated.insert(object)
      case .deleted: sets.deleted.insert(object)
      case .annihilated: break
      }
      // A store wrote its own row with the change; a parent adopted only the change.
      _markSaved(object, row: _parent == nil ? entry.row : object._draft ?? entry.row)
    }
    _reportFollowed(in: &sets)
    own.forEachHeld { $0._state.endSave() }
    let changes = SavedChanges(
      unwritten.isEmpty ? entries : entries + unwritten, isStored: _parent == nil, context: self)
    _announce(sets, changes)
  }

  /// Reports the objects that the stores' delete rules cut and deleted, in the save and in the next change
  /// notification.
  private final func _reportFollowed(in sets: inout EventSets) {
    for object in savePass.followed {
      if sets.deleted.contains(object) {
        recordEvent(object, .eventDeleted)
      } else if object._context === self {
        sets.updated.insert(object)
      }
    }
    savePass.followed = []
  }

  /// Returns the published changes that the save does not include: resolving a conflict dropped them, the row
  /// was deleted elsewhere, or the object was deleted before it was ever saved.
  private final func _unsavedEntries(
    _ saved: [Layer.Entry], _ own: [NSManagedObject], _ hasDeletions: Bool
  ) -> [Layer.Entry] {
    let layers = overlay.layers
    guard
      savePass.hasResolved || savePass.skipsVanished || layers.contains(where: \.hasAnnihilated)
        // One child may have deleted what another has inserted, or this context itself.
        || layers.count > 1 && layers.contains(where: \.hasDeletions)
        || hasDeletions && own.contains(where: { $0._flags.isSuperset(of: [.inserted, .deleted]) })
    else { return [] }
    let written = IdentitySet(saved.lazy.map(\.id))
    return layers.composedEntries.filter { !written.contains($0.id) }
  }

  /// Returns the sets of the last change notification if the save affects the same objects in the same way. A
  /// bulk import announces its insertions once, right before the save.
  private final func _consumeAnnounced(_ own: [NSManagedObject], _ hadAdopted: Bool) -> EventSets? {
    defer { events.announced = nil }
    guard let sets = events.announced, !hadAdopted, sets.holdsAll(own.count) else { return nil }
    // The inserted set holds only inserted objects, the deleted set only deleted ones: equal counts mean
    // equal sets.
    var (inserted, deleted) = (0, 0)
    let areAllSaved = own.allHeld { object in
      if object._flags.contains(.deleted) { deleted += 1 }
      if object._flags.contains(.inserted) { inserted += 1 }
      return object.isDirty && !object._flags.isSuperset(of: [.inserted, .deleted])
    }
    return areAllSaved && inserted == sets.inserted.count && deleted == sets.deleted.count ? sets : nil
  }

  /// Clears the flags of an unsaved change once it is saved.
  @inline(__always)
  private final func _markSaved(_ object: NSManagedObject, row: Row?) {
    if object._flags.contains(.deleted) {
      // Other objects stay registered until their deletion has been announced.
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
      // Assigned without changing the value: nothing was written.
      object._draft = nil
    }
    object._changed.removeAll()
    object._state.commit()
    object._relations?.commit()
    // Objects of a root context have their permanent IDs from here on.
    if _parent == nil { object.adoptPermanentID() }
  }

  /// Calls `didSave`, posts the notifications, and sends the changes to contexts that merge automatically.
  private final func _announce(_ sets: EventSets, _ changes: SavedChanges) {
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
    _sendForMerging(changes)
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
    _unregisterDeleted(sets.deleted)
    if !changes.isEmpty { sweepIfDue() }
  }

  /// Sends the save to contexts that merge automatically. Enqueued before the save is announced, so that a
  /// block which an observer sends to their queue runs after the merge.
  private final func _sendForMerging(_ changes: SavedChanges) {
    guard !changes.isEmpty else { return }
    if _parent == nil { persistentStoreCoordinator?.broadcast(changes, from: self) }
    guard overlay.hasReaders else { return }
    for child in overlay.readers where child._parent === self && child.automaticallyMergesChangesFromParent {
      child.queue.enqueueMerge { $0.append(changes) }
    }
  }

  /// Unregisters objects whose deletion was saved. Until the save is announced, they are found under their
  /// IDs.
  private final func _unregisterDeleted(_ objects: Set<NSManagedObject>) {
    // Keep objects that an observer has brought back.
    for object in objects where object._context === self && !object.hasChanges {
      table.remove(object)
      object._context = nil
    }
  }
}

extension Relations {
  func commit() { forEachToMany { _, state in state.commit() } }
}
