import CoreDataModelSchema
import Foundation

extension NSManagedObject {
  /// Loads the values of a fault; does nothing for a loaded object.
  final func fireFault() {
    guard _flags.contains(.fault) else { return }
    checkQueue()
    guard let context = _context else {
      if _row != nil {
        // The deletion is saved. Observers may still read the values in memory.
        _state.showValues()
        return
      }
      // Its values have lost against those of a stored row.
      if _flags.contains(.failed) { return }
      programmerError(
        "could not fulfil a fault for '\(_id?.uriRepresentation().absoluteString ?? "?")': the object's context is gone or "
          + "was reset. Keep the context as long as its objects, or fetch again.")
    }
    FaultPass(context).fire(self)
  }

  /// Fires the fault before one of its values is read. If a `KeyRecorder` is active, records the read
  /// instead.
  final func fireFault(reading slot: Int) {
    if _context == nil, let recorder = KeyRecorder.current, recorder.record(slot, of: self) { return }
    fireFault()
  }

  /// Whether the values in memory can be read directly: the object is not a fault, and queue checks are off.
  /// If so, records the read for `Observation`.
  @inline(__always) final func isReadable(recording slot: Int) -> Bool {
    if _flags.isDisjoint(with: .attention) { return true }
    guard _flags.isDisjoint(with: ObjectFlags.attention.subtracting(.recordsReads)) else { return false }
    recordRead(slot)
    return true
  }

  /// Prepares the object for a read of the value at `slot`; see `attend()`.
  final func attend(reading slot: Int) {
    if isReadable(recording: slot) { return }
    if _context == nil, let recorder = KeyRecorder.current, recorder.record(slot, of: self) { return }
    // Transient values are lost with the context. Without a row, they read as nil.
    if _context == nil, _row == nil, _layout.slots[slot].isTransient { return }
    attend()
    recordRead(slot)
  }

  final func isUnread(_ key: String) -> Bool {
    guard let slot = _layout.slot(named: key), let relationship = _layout.slots[slot].relationship else {
      return false
    }
    if relationship.isToMany { return !(_relations?.members(slot)?.isRealised ?? false) && !isNew }
    if isFault { return true }
    return _relations?.target(slot) == nil && !read(slot).isNull
  }

  /// Whether the object has never been saved anywhere, so it has no values to read.
  final var isNew: Bool { _row == nil && _flags.contains(.inserted) && !_flags.contains(.adopted) }

  final func relatedIDs(_ key: String) -> [NSManagedObjectID] {
    guard let slot = _layout.slot(named: key), let relationship = _layout.slots[slot].relationship else {
      return []
    }
    guard relationship.isToMany else {
      if let target = _relations?.target(slot) { return [target.objectID] }
      switch read(slot) {
      case .reference(let key): return [_context?.registry.id(for: key) ?? NSManagedObjectID(key)]
      case .pending(let id): return [id.canonical]
      default: return []
      }
    }
    if let state = _relations?.members(slot), state.isRealised { return state.list.map(\.objectID) }
    guard let context = _context else { return [] }
    // A child's save may have moved members.
    if !context.overlay.layers.isEmpty { return members(slot).list.map(\.objectID) }
    var ids = isNew ? [] : FaultPass(context).relatedIDs(of: self, slot: slot) ?? []
    if let state = _relations?.members(slot) {
      let removed = Set(state.changes.removed.map { $0.objectID.canonical })
      ids.removeAll { removed.contains($0.canonical) }
      let present = Set(ids.map(\.canonical))
      ids += state.changes.added.map(\.objectID).filter { !present.contains($0.canonical) }
    }
    return ids
  }

  /// Turns the object into a fault. Discards its values and unsaved changes.
  ///
  /// - Parameter row: The values that the next access shows, if known.
  final func turnIntoFault(keeping row: Row? = nil) {
    willTurnIntoFault()
    _values.settle(on: row)
    _relations = nil
    _state.dropValues()
    didTurnIntoFault()
  }

  /// Sets transient attributes to their default values after the fault fired: a stored row lacks them.
  final func fillTransientDefaults() {
    guard let row = _current else { return }
    for slot in _shape.transientDefaults where slot < row.count && row.isNull(at: slot) {
      makeDraftOwn()
      _values.set(_shape.defaults[slot], at: slot)
    }
  }

  /// The last saved row, if it has transient values. Newer rows lack them.
  private final var _rowWithTransients: Row? {
    guard _layout.hasTransients, let row = _row else { return nil }
    let slots = _layout.slots
    return slots.indices.contains { slots[$0].isTransient && !row.isNull(at: $0) } ? row : nil
  }

  /// Adopts the row that this object's save has written. It differs from the current one only in its version.
  final func advanceVersion(to row: Row) {
    guard let mine = _row, row.version > mine.version else { return }
    guard _layout.hasTransients else { return attach(row) }
    attach(mine.rebased(onto: row, _layout.transientSlots, _layout))
  }

  /// Rebases unsaved changes on newer stored values. Does not touch inverses, which
  /// `LinkPass.show(_:at:)` updates.
  final func rebase(on row: Row) {
    var draft = _draft
    if let values = draft ?? _rowWithTransients {
      var kept = _layout.transientSlots
      if let draft {
        // An assignment of an equal value is not a change to keep.
        _changed.forEach { if !(_row?.hasSameCell(as: draft, at: $0) ?? false) { kept.insert($0) } }
      }
      draft = values.rebased(onto: row, kept, _layout)
      _state.ownDraft()
    }
    _values.rebase(on: row, draft: draft)
    _relations?.dropClean()
  }
}
