import CoreDataModelSchema

// Showing unsaved state to children.

extension NSManagedObjectContext {
  /// Called on this context's queue by a child that is about to read.
  final func flushForReaders() {
    processPendingChanges()
    publishIfStale()
  }

  /// Publishes what has changed since the last time, if any child may read it.
  final func publishIfStale() {
    guard overlay.isStale else { return }
    let noted = overlay.noted
    var entries: [Layer.Entry] = []
    for object in unsaved.objects where object._flags.contains(.unpublished) {
      object._state.publish()
      // Transient values stay with the context that they were set in.
      if let entry = entry(for: object) { entries.append(entry.persistent) }
    }
    Interleaving.reach(.publish)
    overlay.push(Layer(entries))
    overlay.markFresh(upTo: noted)
  }

  /// The unsaved state of one of this context's own objects.
  final func entry(for object: NSManagedObject) -> Layer.Entry? {
    let flags = object._flags
    if flags.contains(.deleted) {
      return Layer.Entry(
        kind: flags.contains(.inserted) ? .annihilated : .deleted, id: object._objectID, base: object._row,
        row: nil,
        changed: SlotSet(), isWhole: true)
    }
    guard flags.contains(.inserted) || flags.contains(.updated) else { return nil }
    if object.isFault, object._row == nil, !flags.contains(.inserted), (try? load(object)) != true {
      return nil
    }
    // What cannot be encoded says so when it is saved.
    try? object.encodeTransformables()
    let isInserted = flags.contains(.inserted)
    return Layer.Entry(
      kind: isInserted ? .inserted : .updated, id: object._objectID, base: object._row,
      row: object.handOutDraft(), changed: isInserted ? object._changed : object.differingSlots, isWhole: true
    )
  }

  /// Removes an object's entry, when its unsaved changes were thrown away.
  final func withdraw(_ object: NSManagedObject) {
    let key = IdentityKey(object._objectID)
    let layers = overlay.layers
    guard layers.contains(key) else { return }
    overlay.replace(
      with: layers.map { layer in Layer(layer.entries.filter { IdentityKey($0.id) != key }) }
        .filter { !$0.entries.isEmpty })
  }
}

extension NSManagedObject {
  /// The draft with the to-many changes filled in, to be shared: later writes go to a copy.
  ///
  /// - Parameter isStored: Whether a store writes the row, which raises its version. Elsewhere a row has the version
  ///   of the stored one that it was made on.
  final func handOutDraft(toStore isStored: Bool = false) -> Row {
    let version = _row.map { isStored ? $0.version.next : $0.version } ?? max(_draft?.version ?? 1, 1)
    let hasMemberChanges = _layout.toManySlots.contains { _relations?.members($0)?.hasChanges ?? false }
    if let _draft, _flags.contains(.draftShared), _draft.version == version, !hasMemberChanges,
      // A to-many change handed out before may have been taken back since.
      _layout.toManySlots.allSatisfy({ _draft[$0].isNull })
    {
      return _draft
    }
    let draft = ownDraft()
    for slot in _layout.toManySlots {
      if let state = _relations?.members(slot), state.hasChanges {
        // An unsaved order of members that are to be read again is laid over what they are now.
        if state.isOrdered { _ = members(slot) }
        draft.set(.toMany(memberChanges(slot, state)), at: slot)
      } else {
        draft.set(.null, at: slot)
      }
    }
    draft.setVersion(version)
    _state.shareDraft()
    return draft
  }

  /// Slots whose values differ from those last fetched or saved, changed to-manys included.
  final var differingSlots: SlotSet {
    let layout = _layout
    let slots = layout.slots
    var result = SlotSet()
    if let draft = _draft, let row = _row, !(draft === row) {
      for slot in slots.indices where !slots[slot].isToMany && draft[slot] != row[slot] {
        result.insert(slot)
      }
    }
    guard let relations = _relations else { return result }
    for slot in layout.toManySlots where relations.members(slot)?.hasChanges ?? false { result.insert(slot) }
    return result
  }
}
