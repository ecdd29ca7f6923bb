/// The state of an object in its context and relative to the store: one word of flags, mutated only by the
/// transitions below.
///
/// Transitions are grouped by the phase of an object's life in which they occur.
struct ObjectState {
  private(set) var flags: ObjectFlags = []
  /// When the row of a fault was read; see `ReadStamps`.
  private(set) var stamp: UInt32 = 0

  // MARK: Making

  /// Registers a fault: a stored object without values.
  mutating func beginAsFault(checked isChecked: Bool, recordingReads: Bool, readAt stamp: UInt32) {
    self.stamp = stamp
    flags.formUnion(isChecked ? [.fault, .checked] : .fault)
    if recordingReads { flags.insert(.recordsReads) }
  }

  /// Registers an object for a change that a child context has saved into this one.
  mutating func beginAsAdopted(_ kind: ChangeLayer.Kind, checked isChecked: Bool, recordingReads: Bool) {
    flags.formUnion(isChecked ? [.adopted, .checked] : .adopted)
    switch kind {
    case .inserted: flags.formUnion([.inserted, .draftShared])
    case .updated: flags.formUnion([.updated, .draftShared])
    // The child's save was announced when this context accepted it.
    case .deleted: flags.formUnion(.deletion)
    case .insertedThenDeleted: break
    }
    if recordingReads { flags.insert(.recordsReads) }
  }

  /// Inserts a new object and puts it on all lists of the context.
  mutating func insert(checked isChecked: Bool, recordingReads: Bool) {
    flags.subtract(.deletion.union(.fault))
    flags.formUnion([.inserted, .listed, .eventInserted, .eventListed, .unpublished, .touchedInSave])
    if isChecked { flags.insert(.checked) }
    if recordingReads { flags.insert(.recordsReads) }
  }

  /// Inserts an object that is already registered with the context.
  mutating func insertAgain() {
    if !flags.contains(.inserted) { flags.formUnion([.updated, .reinserted]) }
    flags.insert(.eventInserted)
  }

  // MARK: Values

  /// Records that values are attached to the fault which were read at this time.
  mutating func attachValues(_ stamp: UInt32) { self.stamp = stamp }

  /// Makes the attached values readable.
  mutating func showValues() { flags.remove(.fault) }

  /// Turns the object into a fault but keeps its values, which become readable again when the fault fires.
  mutating func hideValues() { flags.insert(.fault) }

  /// Turns the object into a fault without values.
  mutating func dropValues() {
    flags.subtract([.draftShared, .primitivesWritten, .partial])
    flags.insert(.fault)
  }

  /// Attaches the values that a partial fetch returned. The object stays a fault.
  mutating func attachPartialValues() { flags.insert(.partial) }

  mutating func dropPartialValues() { flags.remove(.partial) }

  /// Records that the draft is shared. The next write copies it.
  mutating func shareDraft() { flags.insert(.draftShared) }

  /// Records that the draft is exclusive to the object, or that there is none.
  mutating func ownDraft() { flags.remove(.draftShared) }

  /// Stops treating assignments as changes, until `endAwakening()`.
  mutating func beginAwakening() { flags.insert(.awakening) }

  mutating func endAwakening() { flags.remove(.awakening) }

  /// Records that a registrar exists, which must be notified of writes.
  mutating func observe() { flags.insert(.observed) }

  /// Records that the object could not be read.
  ///
  /// - Returns: Whether this is its first failure since the context was last rolled back.
  mutating func fail() -> Bool {
    defer { flags.insert(.failed) }
    return !flags.contains(.failed)
  }

  mutating func forgetFailure() { flags.remove(.failed) }

  // MARK: Changes

  /// Marks the object dirty after a property was assigned.
  mutating func change() {
    if flags.isDisjoint(with: [.inserted, .deleted]) { flags.insert(.updated) }
    if !flags.contains(.eventInserted) { flags.insert(.eventUpdated) }
  }

  /// Records a write through `setPrimitiveValue(_:forKey:)`.
  mutating func writePrimitive() { flags.insert(.primitivesWritten) }

  /// Becomes deleted. Only the context may do that, which lists and announces the object.
  mutating func delete(_ cause: DeletionCause, by _: DeletionCause.Permission) {
    flags.insert(.deleted)
    switch cause {
    case .requested: break
    case .settled, .adopted: flags.insert(.deletePropagated)
    case .merged: flags.formUnion([.deletePropagated, .deletedElsewhere])
    case .deletedInStore, .dropped:
      flags.formUnion([.deletePropagated, .deletedElsewhere, .deletedInStore])
      flags.remove(.updated)
    }
  }

  /// Records that delete rules have been applied or do not apply.
  mutating func finishPropagation() { flags.insert(.deletePropagated) }

  /// Requests that delete rules run again, on a newer row.
  mutating func propagateAgain() { flags.subtract([.draftShared, .deletePropagated]) }

  /// Puts the object on the lists of unsaved and of unannounced objects.
  mutating func list() { flags.formUnion(.listedEverywhere) }

  /// Removes the object from the list of unsaved objects.
  mutating func unlist() { flags.subtract([.listed, .unpublished]) }

  /// Makes the next save check the object's version.
  mutating func lock() { flags.formUnion([.locked, .listed]) }

  /// Exists again, and is clean: others have inserted the row again, or an ancestor has rolled back its
  /// deletion.
  mutating func revive() {
    flags.subtract(.deletion.union(.event))
    flags.subtract([.inserted, .updated, .adopted, .draftShared, .primitivesWritten, .reinserted])
  }

  /// Records that the row of an object that is deleted here exists again.
  mutating func recordFoundRow() { flags.remove(.deletedInStore) }

  // MARK: Undo

  /// Reverts an unsaved deletion.
  mutating func undelete() { flags.subtract(.deletion.union([.adopted, .eventDeleted, .deletedInStore])) }

  /// Inserts the object with its last values after its deletion was saved.
  mutating func insertDeleted() {
    flags.subtract(.deletion.union([.fault, .draftShared]))
    flags.formUnion([.inserted, .eventInserted])
  }

  // MARK: Announcing

  /// Enqueues the object for the next change notification, in the list that `flag` selects.
  mutating func recordEvent(_ flag: ObjectFlags) {
    flags.insert(flag)
    flags.insert(.eventListed)
  }

  /// Clears the event flags once the change notification is posted.
  mutating func endEvent() { flags.subtract(.event) }

  /// Records that a change notification has listed the object as inserted.
  mutating func announceInsertion() { flags.insert(.insertionAnnounced) }

  /// Records that a change notification has listed the object as deleted.
  mutating func announceDeletion() { flags.insert(.deletionAnnounced) }

  /// Cancels an insertion: the object is deleted before it was ever saved.
  mutating func cancelInsertion() { flags.subtract([.inserted, .updated]) }

  /// Records that children can read the changes.
  mutating func publish() { flags.remove(.unpublished) }

  // MARK: Nesting

  /// Records that the unsaved state comes from a child's save.
  mutating func adopt() { flags.insert(.adopted) }

  /// Adopts the draft of a child's save and makes it readable.
  mutating func adoptDraft(inserted isInserted: Bool) {
    flags.formUnion([.draftShared, .adopted])
    if !flags.contains(.inserted) { flags.insert(isInserted ? .inserted : .updated) }
    flags.remove(.fault)
  }

  // MARK: Saving

  /// Begins a pass over `willSave()`.
  mutating func beginHookPass() { flags.remove(.touchedInSave) }

  /// Begins a save that does not write the object, at least so far.
  mutating func beginSave() { flags.remove(.written) }

  /// Adds the object to those that the current save writes.
  mutating func write() { flags.insert(.written) }

  /// Clears the flags that a save uses, once it is complete.
  mutating func endSave() { flags.subtract([.listed, .unpublished, .touchedInSave, .locked, .written]) }

  /// Makes the object clean: its changes are saved.
  mutating func commit() {
    flags.subtract([
      .inserted, .updated, .adopted, .draftShared, .listed, .unpublished, .primitivesWritten, .touchedInSave,
      .written, .reinserted,
    ])
  }

  /// Makes the object clean: its deletion is saved.
  mutating func commitDeletion() {
    flags.subtract(.deletion)
    flags.subtract([.inserted, .updated, .listed, .adopted, .unpublished, .touchedInSave])
    flags.subtract(.event)
  }

  // MARK: Conflicts

  /// Records that another context has deleted the row of an object that is deleted here as well.
  mutating func recordMissingRow() { flags.insert(.deletedInStore) }

  /// Turns an update into an insertion because another context has deleted the row.
  mutating func insertAnew() {
    flags.remove(.updated)
    flags.insert(.inserted)
  }

  /// Turns an insertion into an update of a stored row that has the same unique values.
  mutating func becomeUpdate() {
    flags.subtract([.inserted, .draftShared])
    flags.insert(.updated)
  }

  // MARK: Dropping changes

  /// Discards the changes in favor of the stored values.
  mutating func dropChanges() {
    flags.subtract(.deletion)
    flags.subtract([.updated, .adopted, .draftShared, .primitivesWritten])
  }

  /// Discards all unsaved state on a rollback.
  mutating func rollBack() {
    flags.subtract(.event)
    flags.subtract(.deletion)
    flags.subtract([
      .inserted, .updated, .listed, .adopted, .unpublished, .primitivesWritten, .touchedInSave, .locked,
    ])
  }

  /// Returns to a plain fault when the context is reset.
  mutating func reset() { flags = flags.intersection(.observed).union(.fault) }

  /// Clears the flags that concern the context when the object is unregistered.
  mutating func leaveContext() {
    flags.subtract([
      .inserted, .updated, .deleted, .deletionAnnounced, .deletedInStore, .deletedElsewhere, .listed,
      .adopted, .failed,
    ])
    flags.subtract(.event)
  }
}
