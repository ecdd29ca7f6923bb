import CoreDataModelSchema

// What an object becomes: each of these changes its values, its state and its relationships together. Lists of the
// context, other ends of links and notifications are the caller's.

extension NSManagedObject {
  // MARK: Becoming registered

  /// Becomes a fault of a context.
  ///
  /// - Parameter row: The values that firing shows, if known.
  @inline(__always)
  final func beginAsFault(of context: NSManagedObjectContext, row: Row?) {
    _contextReference = Unmanaged.passUnretained(context)
    _values.attach(row)
    _state.beginAsFault(
      checked: context.isChecked, recordingReads: context.recordsReads, readAt: context.ages.stamps.current)
  }

  /// Becomes an object of a context with the unsaved change of a child.
  ///
  /// - Parameter row: The newest known row, the base of the change.
  final func beginAsAdopted(_ entry: ChangeLayer.Entry, over row: Row?, in context: NSManagedObjectContext) {
    _context = context
    _values.replace(row: row, draft: entry.row(over: row), changed: entry.changed)
    _state.beginAsAdopted(entry.kind, checked: context.isChecked, recordingReads: context.recordsReads)
  }

  /// Belongs to a context from here on.
  @inline(__always) final func join(_ context: NSManagedObjectContext) { _context = context }

  /// Belongs to no context any longer, and keeps its values and links for those who hold it.
  @inline(__always) final func leaveContextWithLinks() { _context = nil }

  /// Belongs to no context any longer, and refers to no object of it.
  @inline(__always) final func leaveContext() {
    _context = nil
    _relations = nil
  }

  // MARK: Rows that were read

  /// Attaches the values that a fault shows when it fires; nil if they have to be read then.
  @inline(__always) final func attach(_ row: Row?) { _values.attach(row) }

  /// Attaches values to a fault that has none.
  @inline(__always) final func attachIfUnread(_ row: Row?) {
    if _row == nil, isFault { _values.attach(row) }
  }

  /// Shows a row of nulls: the stored one is gone.
  final func showNothing() {
    _values.attach(Row(count: _layout.slots.count, version: 0))
    _state.showValues()
  }

  /// Takes the row that a store has, under changed members only.
  final func rebaseMembers(on row: Row) {
    _values.attach(row)
    _relations?.dropClean()
  }

  /// Rebases a deletion on a newer row, whose delete rules are still to be applied.
  final func rebaseDeletion(on row: Row) {
    _values.settle(on: row)
    _relations = nil
    _state.propagateAgain()
  }

  // MARK: Values that others share

  /// Shows values that a layer or a save has, too: the next write copies them.
  final func share(_ draft: Row) {
    _values.begin(draft)
    _state.shareDraft()
  }

  /// Shows values that a layer or a save has, too, as a change of a row.
  final func share(_ draft: Row?, over row: Row) {
    _values.rebase(on: row, draft: draft)
    _state.shareDraft()
  }

  /// Shows a child's change of an object that has no change of its own.
  final func adopt(_ entry: ChangeLayer.Entry) {
    _values.begin(entry.row(over: _current))
    _state.adoptDraft(inserted: entry.kind == .inserted)
  }

  /// Takes over values that a child has assigned, beside those assigned here.
  final func take(_ slots: SlotSet, from row: Row) {
    makeDraftWritable()
    slots.forEach { if !_layout.slots[$0].isToMany { _values.set($0, from: row) } }
  }

  /// Records that slots were assigned.
  final func markAssigned(_ slots: SlotSet) { _values.mark(slots) }

  /// Returns the draft with the to-many changes filled in, for sharing: later writes go to a copy.
  ///
  /// - Parameter isStored: Whether a store writes the row, which increments its version. Otherwise the row
  ///   keeps the version of the stored row that it is based on.
  final func handOutDraft(toStore isStored: Bool = false) -> Row {
    // Only one-to-manys changed, from their other end: the row itself is unchanged and can be shared.
    if !isStored, _draft == nil, let _row, _changed.isSubset(of: _layout.derivedToManySlots) { return _row }
    let version = _row.map { isStored ? $0.version.next : $0.version } ?? max(_draft?.version ?? 1, 1)
    if _flags.contains(.draftShared), let _draft, _draft.version == version,
      // A to-many change that was published earlier may have been reverted since.
      _layout.recordedToManySlots.allSatisfy({
        _draft.isNull(at: $0) && !(_relations?.members($0)?.hasChanges ?? false)
      })
    {
      return _draft
    }
    makeDraftOwn()
    for slot in _layout.recordedToManySlots {
      if let state = _relations?.members(slot), state.hasChanges {
        // An unsaved order of unloaded members is applied to the current members.
        if state.isOrdered { _ = members(slot) }
        _values.set(.toMany(memberChanges(slot, state)), at: slot)
      } else {
        _values.set(.null, at: slot)
      }
    }
    let draft = _draft.unsafelyUnwrapped
    draft.setVersion(version)
    draft.reportTextRoom()
    _state.shareDraft()
    return draft
  }

  // MARK: Saved

  /// Makes the object clean: its values are saved.
  ///
  /// - Parameter row: The row that was written, where it is another one than the draft.
  @inline(__always)
  final func becomeSaved(as row: Row?) {
    if let row {
      _values.settle(on: row)
    } else if !_flags.isDisjoint(with: [.inserted, .written]) {
      _values.settle()
    } else if !_layout.hasTransients {
      // Assigned without changing the value: nothing was written.
      _values.settle(on: _row)
    } else {
      // The transient values stay in the draft, which children may have read; it is not shared any longer.
      if _flags.contains(.draftShared) { makeDraftOwn() }
      _values.forgetAssignments()
    }
    _state.commit()
    _relations?.commit()
  }

  // MARK: Discarded

  /// Discards the changes and shows a row.
  final func dropChanges(showing row: Row?) {
    _values.settle(on: row)
    _relations = nil
    _state.dropChanges()
  }

  /// Discards the changes of an object that others had deleted and that exists again.
  ///
  /// - Parameter row: Its row, if known.
  final func revive(showing row: Row?) {
    _values.settle(on: row)
    _relations = nil
    _state.revive()
  }

  /// Discards the unsaved values after a rollback of the state.
  final func rollBackValues() {
    _values.settle(on: _row)
    _state.ownDraft()
    if _row == nil {
      _state.hideValues()
      _relations = nil
    } else {
      _relations?.rollback()
    }
  }

  /// Turns an unsaved object into a fault that shows its default values when filled.
  final func refault() {
    _values.settle(on: _row)
    // The draft holds the default values; firing shows them.
    makeDraftWritable()
    _relations = nil
    _state.hideValues()
  }

  /// Becomes a fault without context: the context is reset.
  @inline(__always) final func reset() {
    leaveContext()
    _values.settle(on: nil)
    _state.reset()
  }

  // MARK: Inserted in another way

  /// Becomes an insertion because others have deleted the row of a changed object.
  final func becomeInsertion() {
    makeDraftWritable()
    if let draft = _draft { draft.setVersion(draft.version.nextLife) }
    _values.replace(row: nil, draft: _draft, changed: SlotSet(_layout.slots.indices))
    _state.insertAnew()
  }

  /// Becomes an update of a stored row because others have inserted it.
  final func becomeUpdate(of row: Row, draft: Row, changed: SlotSet) {
    _values.replace(row: row, draft: draft, changed: changed)
    _state.becomeUpdate()
  }

  /// Becomes a new object of a context with the values that it had before its deletion was saved, but for the members of
  /// its to-manys.
  final func reappear(in context: NSManagedObjectContext) {
    _id = nil
    var draft = _draft
    if let current = _current { draft = Row(copying: current, version: 1) }
    var changed = _changed
    for slot in _layout.slots.indices where !_layout.slots[slot].isToMany { changed.insert(slot) }
    _values.replace(row: nil, draft: draft, changed: changed)
    if draft != nil { for slot in _layout.toManySlots { _values.set(.null, at: slot) } }
    _relations = nil
    _context = context
  }

  /// Shows the outcome of a conflict: the values that remain changed, over the stored row.
  final func resolve(over row: Row, draft: Row, changed: SlotSet) {
    _values.replace(row: row, draft: draft, changed: changed)
    _state.ownDraft()
    // Keep local additions and removals; reread the changes of others in the same relationship.
    _relations?.dropClean()
  }
}
