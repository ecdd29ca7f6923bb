import CoreDataModelSchema

// Publishing unsaved state to children.

extension NSManagedObjectContext {
  /// Publishes pending changes. Called on this context's queue by a child that is about to read.
  final func flushForReaders() {
    processPendingChanges()
    publishIfStale()
  }

  /// Publishes the changes made since the last call, if the context has children.
  final func publishIfStale() {
    guard overlay.isStale else { return }
    let noted = overlay.noted
    var entries: [ChangeLayer.Entry] = []
    for object in unsaved.objects where object._flags.contains(.unpublished) {
      object._state.publish()
      // Transient values stay in the context that set them.
      if let entry = entry(for: object) { entries.append(entry.persistent) }
    }
    Interleaving.reach(.publish)
    overlay.push(ChangeLayer(entries))
    overlay.markFresh(upTo: noted)
  }

  /// Returns the unsaved state of one of this context's own objects.
  final func entry(for object: NSManagedObject) -> ChangeLayer.Entry? {
    let flags = object._flags
    if flags.contains(.deleted) {
      return ChangeLayer.Entry(
        kind: flags.contains(.inserted) ? .insertedThenDeleted : .deleted, id: object._objectID,
        base: object._row,
        row: nil,
        changed: SlotSet(), isWhole: true)
    }
    guard flags.contains(.inserted) || flags.contains(.updated) else { return nil }
    if object.isFault, object._row == nil, !flags.contains(.inserted) {
      do {
        guard try FaultPass(self).load(object) else { return nil }
      } catch {
        fail(object, "publish '\(object.objectID.uriRepresentation().absoluteString)' to children", error)
        return nil
      }
    }
    // A value that cannot be encoded fails the save.
    try? object.encodeTransformables()
    let isInserted = flags.contains(.inserted)
    return ChangeLayer.Entry(
      kind: isInserted ? .inserted : .updated, id: object._objectID, base: object._row,
      row: object.handOutDraft(), changed: isInserted ? object._changed : object.differingSlots, isWhole: true
    )
  }

  /// Removes the entry of an object whose unsaved changes were discarded.
  final func withdraw(_ object: NSManagedObject) {
    if let entry = overlay.withdraw(object._objectID) { discard([entry]) }
  }
}

extension NSManagedObject {
  /// Slots whose values differ from the last fetched or saved ones, including changed to-manys.
  final var differingSlots: SlotSet {
    var result = SlotSet()
    if let draft = _draft, let row = _row, !(draft === row) {
      result = row.slots(differingIn: draft, _layout)
    }
    guard let relations = _relations else { return result }
    for slot in _layout.toManySlots where relations.members(slot)?.hasChanges ?? false { result.insert(slot) }
    return result
  }
}
