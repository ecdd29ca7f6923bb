import CoreDataModelSchema
import Foundation

// A save as passes over plain values: hooks, validation, entries, and the write upstream.

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
    savePass.showsNews = false
    savePass.skipsVanished = false
    defer { savePass.isActive = false }
    let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
    processPendingChanges()
    NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
    let layer = try _checkedLayer()
    guard let recorder = TraceRecorder.current else { return try _saveLayer(layer) }
    let recorded = recordedChanges(of: layer, by: recorder)
    do {
      try _saveLayer(layer)
    } catch {
      record(recorded, of: layer, since: begin, error: error, by: recorder)
      throw error
    }
    record(recorded, of: layer, since: begin, error: nil, by: recorder)
  }

  /// Hands the changes to the parent, or writes them.
  private final func _saveLayer(_ layer: ChangeLayer) throws {
    if let parent = _parent {
      if !layer.entries.isEmpty { _handUp(layer, to: parent) }
      let locks = lockedObjects.map { (id: $0._objectID, row: $0._row) }
      if !locks.isEmpty { parent.queue.sync { parent.adoptLocks(locks) } }
      _noteRevocableDeletions(layer)
      finishSave(layer.entries, as: layer)
    } else {
      let saved = try commit(layer.entries)
      Interleaving.reach(.commit)
      advanceGeneration()
      finishSave(saved, as: nil)
      if savePass.showsNews { processPendingChanges() }
    }
    assertConsistent()
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
  private final func _handUp(_ layer: ChangeLayer, to parent: NSManagedObjectContext) {
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
  private final func _noteRevocableDeletions(_ layer: ChangeLayer) {
    guard unsaved.hasDeletions || !overlay.layers.isEmpty,
      layer.entries.containsUnretained({ $0.kind == .deleted })
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
  private final func _checkedLayer() throws -> ChangeLayer {
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
    unsaved.objects.allSatisfyUnretained { $0.isDirty } ? unsaved.objects : unsaved.objects.filter(\.isDirty)
  }

  /// Collects the unsaved state as values: this context's objects, then the children's layers.
  final func collectLayer() throws -> ChangeLayer {
    let layers = overlay.layers
    let own = changedObjects
    // The only changes are one child's save: pass its layer on by reference.
    if own.isEmpty, layers.count == 1, !layers[0].hasInsertedThenDeleted { return layers[0] }
    try _loadTouchedFaults(own)
    var entries: [ChangeLayer.Entry] = []
    entries.reserveCapacity(own.count)
    if !layers.isEmpty {
      // Children saved before these changes.
      for entry in layers.composedEntries where entry.kind != .insertedThenDeleted {
        if let object = table.object(for: entry.id), object._flags.contains(.listed) { continue }
        entries.append(entry)
      }
    }
    try own.forEachUnretained { object in
      if let entry = try savedEntry(for: object) { entries.append(entry) }
    }
    return ChangeLayer(entries, isIndexed: _parent != nil)
  }

  /// Loads faults that changed only from the other end of a relationship, in one batch.
  private final func _loadTouchedFaults(_ objects: [NSManagedObject]) throws {
    if objects.allSatisfyUnretained({ $0._row != nil || $0._flags.contains(.inserted) }) { return }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      faultBatch.add(object)
    }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      _ = try load(object)
    }
  }

  final func savedEntry(for object: NSManagedObject) throws -> ChangeLayer.Entry? {
    // A failed save may have left the flag.
    object._state.beginSave()
    if object._flags.contains(.deleted) {
      if object._flags.contains(.deletedInStore) {
        savePass.skipsVanished = true
        return nil
      }
      if object._flags.contains(.inserted) { return nil }
      return ChangeLayer.Entry(
        kind: .deleted, id: object._objectID, base: object._row, row: nil, changed: SlotSet(), isWhole: false)
    }
    do {
      try object.encodeTransformables()
    } catch {
      throw CocoaError.coreData(NSCoreDataError, "\(error)", [NSValidationObjectErrorKey: object])
    }
    if object._flags.contains(.inserted) {
      return ChangeLayer.Entry(
        kind: .inserted, id: object._objectID, base: nil, row: object.handOutDraft(toStore: _parent == nil),
        changed: object._changed, isWhole: false)
    }
    guard let base = object._row else { return nil }
    let changed = object.differingSlots
    // Transient values are saved to a parent but not to a store.
    guard !changed.isEmpty, _parent != nil || _isStored(changed, object._layout) else { return nil }
    object._state.write()
    return ChangeLayer.Entry(
      kind: .updated, id: object._objectID, base: base, row: object.handOutDraft(toStore: _parent == nil),
      changed: changed, isWhole: false)
  }

  private final func _isStored(_ changed: SlotSet, _ layout: PropertyLayout) -> Bool {
    if !layout.hasTransients { return true }
    var isStored = false
    changed.forEach { if !layout.slots[$0].isTransient { isStored = true } }
    return isStored
  }
}
