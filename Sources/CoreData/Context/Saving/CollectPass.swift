import CoreDataModelSchema
import Foundation

/// Collects the unsaved state of a context as values.
struct CollectPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Collects the unsaved state as values: this context's objects, then the children's layers.
  func run() throws -> ChangeLayer {
    let layers = context.overlay.layers
    let own = context.unsaved.changed
    // The only changes are one child's save: pass its layer on by reference.
    if own.isEmpty, layers.count == 1, !layers[0].hasInsertedThenDeleted { return layers[0] }
    try _loadTouchedFaults(own)
    var entries: [ChangeLayer.Entry] = []
    entries.reserveCapacity(own.count)
    if !layers.isEmpty {
      // Children saved before these changes.
      for entry in layers.composedEntries where entry.kind != .insertedThenDeleted {
        if let object = context.table.object(for: entry.id), object._flags.contains(.listed) { continue }
        entries.append(entry)
      }
    }
    try own.forEachUnretained { object in
      if let entry = try entry(for: object) { entries.append(entry) }
    }
    return ChangeLayer(entries, isIndexed: context._parent != nil)
  }

  /// Loads faults that changed only from the other end of a relationship, in one batch.
  private func _loadTouchedFaults(_ objects: [NSManagedObject]) throws {
    if objects.allSatisfyUnretained({ $0._row != nil || $0._flags.contains(.inserted) }) { return }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      context.faultBatch.add(object)
    }
    for object in objects where object._row == nil && !object._flags.contains(.inserted) {
      _ = try FaultPass(context).load(object)
    }
  }

  func entry(for object: NSManagedObject) throws -> ChangeLayer.Entry? {
    // A failed save may have left the flag.
    object._state.beginSave()
    if object._flags.contains(.deleted) {
      if object._flags.contains(.deletedInStore) {
        context.saving.skipsVanished = true
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
        kind: .inserted, id: object._objectID, base: nil,
        row: object.handOutDraft(toStore: context._parent == nil),
        changed: object._changed, isWhole: false)
    }
    guard let base = object._row else { return nil }
    let changed = object.differingSlots
    // Transient values are saved to a parent but not to a store.
    guard !changed.isEmpty, context._parent != nil || _isStored(changed, object._layout) else { return nil }
    object._state.write()
    return ChangeLayer.Entry(
      kind: .updated, id: object._objectID, base: base,
      row: object.handOutDraft(toStore: context._parent == nil),
      changed: changed, isWhole: false)
  }

  private func _isStored(_ changed: SlotSet, _ layout: PropertyLayout) -> Bool {
    if !layout.hasTransients { return true }
    var isStored = false
    changed.forEach { if !layout.slots[$0].isTransient { isStored = true } }
    return isStored
  }
}
