/// Where an object stands in its context and towards the store: one word of flags that changes by named transitions only.
///
/// The transitions follow an object's life: it is made, shows or drops its values, is changed, announced, published,
/// saved, refreshed or rolled back, and leaves its context.
struct ObjectState {
  private(set) var flags: ObjectFlags = []

  // MARK: Making

  /// A stored object without values.
  mutating func beginAsFault(checked isChecked: Bool, recordingReads: Bool) {
    flags.formUnion(isChecked ? [.fault, .checked] : .fault)
    if recordingReads { flags.insert(.recordsReads) }
  }

  /// An object made for a change that a child saved into its context.
  mutating func beginAsAdopted(_ kind: Layer.Kind, checked isChecked: Bool, recordingReads: Bool) {
    flags.formUnion(isChecked ? [.draftShared, .adopted, .checked] : [.draftShared, .adopted])
    switch kind {
    case .inserted: flags.insert(.inserted)
    case .updated: flags.insert(.updated)
    case .deleted: flags.formUnion([.deleted, .deletePropagated])
    case .annihilated: break
    }
    if recordingReads { flags.insert(.recordsReads) }
  }

  /// Inserted into a context; on all of its lists.
  mutating func insert(checked isChecked: Bool, recordingReads: Bool) {
    flags.subtract([.fault, .deleted, .deletePropagated])
    flags.formUnion([.inserted, .listed, .eventInserted, .eventListed, .unpublished, .touchedInSave])
    if isChecked { flags.insert(.checked) }
    if recordingReads { flags.insert(.recordsReads) }
  }

  /// Inserted into the context that has it already.
  mutating func insertAgain() {
    if !flags.contains(.inserted) { flags.formUnion([.updated, .reinserted]) }
    flags.insert(.eventInserted)
  }

  // MARK: Values

  /// Shows the values that are attached.
  mutating func showValues() { flags.remove(.fault) }

  /// Hides the values, which are shown again when the fault fires.
  mutating func hideValues() { flags.insert(.fault) }

  /// Becomes a fault without values.
  mutating func dropValues() {
    flags.subtract([.draftShared, .primitivesWritten, .partial])
    flags.insert(.fault)
  }

  /// Shows nil for every property: the row is gone, and there is nothing that delete rules could follow.
  mutating func showMissingRow() {
    flags.remove(.fault)
    flags.insert(.deletePropagated)
  }

  /// Has some of the values, without showing them.
  mutating func attachPartialValues() { flags.insert(.partial) }

  mutating func dropPartialValues() { flags.remove(.partial) }

  /// The draft was handed out; it is copied before the next write.
  mutating func shareDraft() { flags.insert(.draftShared) }

  /// The draft is the object's own, or there is none.
  mutating func ownDraft() { flags.remove(.draftShared) }

  /// Assignments do not count as changes from here to `endAwakening()`.
  mutating func beginAwakening() { flags.insert(.awakening) }

  mutating func endAwakening() { flags.remove(.awakening) }

  /// A registrar exists that must learn of writes.
  mutating func observe() { flags.insert(.observed) }

  // MARK: Changes

  /// A property was assigned.
  mutating func change() {
    if flags.isDisjoint(with: [.inserted, .deleted]) { flags.insert(.updated) }
    if !flags.contains(.eventInserted) { flags.insert(.eventUpdated) }
  }

  /// A property was written through a primitive.
  mutating func writePrimitive() { flags.insert(.primitivesWritten) }

  mutating func delete() { flags.formUnion([.deleted, .eventDeleted]) }

  /// Delete rules have been applied, or must not be.
  mutating func finishPropagation() { flags.insert(.deletePropagated) }

  /// The delete rules of a deletion are applied again, by a newer row.
  mutating func propagateAgain() { flags.subtract([.draftShared, .deletePropagated]) }

  /// Put on the lists of unsaved and of unannounced objects.
  mutating func list() { flags.formUnion(.listedEverywhere) }

  /// Taken off the list of unsaved objects.
  mutating func unlist() { flags.subtract([.listed, .unpublished]) }

  /// The next save checks the version of the object.
  mutating func lock() { flags.formUnion([.locked, .listed]) }

  // MARK: Undo

  /// A deletion that is not saved is taken back.
  mutating func undelete() { flags.subtract([.deleted, .deletePropagated, .adopted, .eventDeleted]) }

  /// Inserted with the values it had before its deletion was saved.
  mutating func insertDeleted() {
    flags.subtract([.fault, .deleted, .deletePropagated, .draftShared])
    flags.formUnion([.inserted, .eventInserted])
  }

  // MARK: Announcing

  /// To be announced with the next event, as the flag says.
  mutating func recordEvent(_ flag: ObjectFlags) {
    flags.insert(flag)
    flags.insert(.eventListed)
  }

  /// The event is over.
  mutating func endEvent() { flags.subtract(.event) }

  /// Announced as inserted.
  mutating func announceInsertion() { flags.insert(.toldInserted) }

  /// Inserted and deleted before any save.
  mutating func cancelInsertion() { flags.subtract([.inserted, .updated]) }

  /// Children can read the changes.
  mutating func publish() { flags.remove(.unpublished) }

  // MARK: Nesting

  /// A child has deleted the object.
  mutating func adoptDeletion() { flags.formUnion([.deleted, .deletePropagated]) }

  /// The unsaved state is that of a child's save.
  mutating func adopt() { flags.insert(.adopted) }

  /// Shows the draft of a child's save.
  mutating func adoptDraft(inserted isInserted: Bool) {
    flags.formUnion([.draftShared, .adopted])
    if !flags.contains(.inserted) { flags.insert(isInserted ? .inserted : .updated) }
    flags.remove(.fault)
  }

  // MARK: Saving

  /// A pass over `willSave` begins.
  mutating func beginHookPass() { flags.remove(.touchedInSave) }

  /// Not, or not yet, written by the current save.
  mutating func beginSave() { flags.remove(.written) }

  /// The current save writes the object.
  mutating func write() { flags.insert(.written) }

  /// The save is over.
  mutating func endSave() { flags.subtract([.listed, .unpublished, .touchedInSave, .locked, .written]) }

  /// The changes are saved.
  mutating func commit() {
    flags.subtract([
      .inserted, .updated, .adopted, .draftShared, .listed, .unpublished, .primitivesWritten, .touchedInSave,
      .written, .reinserted,
    ])
  }

  /// The deletion is saved.
  mutating func commitDeletion() {
    flags.subtract([
      .inserted, .updated, .deleted, .deletePropagated, .listed, .adopted, .unpublished, .touchedInSave,
      .vanished,
    ])
    flags.subtract(.event)
  }

  // MARK: Conflicts

  /// The row was deleted by another context, as the object is here.
  mutating func recordMissingRow() { flags.insert(.vanished) }

  /// The row was deleted by another context, and the object goes with it.
  mutating func vanish() {
    flags.formUnion([.deleted, .deletePropagated, .vanished])
    flags.remove(.updated)
  }

  /// The row was deleted by another context, and the object is written again.
  mutating func insertAnew() {
    flags.remove(.updated)
    flags.insert(.inserted)
  }

  /// A new object takes over the identity of a stored row.
  ///
  /// - Parameter isYielding: Whether the row's values win, so that the object becomes a fault once saved.
  mutating func becomeUpdate(yielding isYielding: Bool) {
    flags.subtract([.inserted, .draftShared])
    flags.insert(.updated)
    if isYielding { flags.insert(.yielded) }
  }

  /// Ends the wait of a yielding object for its save.
  ///
  /// - Returns: Whether it was waiting.
  mutating func endYielding() -> Bool { flags.remove(.yielded) != nil }

  // MARK: Dropping changes

  /// The changes are dropped for the stored values.
  mutating func dropChanges() {
    flags.subtract([.updated, .deleted, .deletePropagated, .adopted, .draftShared, .primitivesWritten])
  }

  /// All unsaved state is rolled back.
  mutating func rollBack() {
    flags.subtract(.event)
    flags.subtract([
      .inserted, .updated, .deleted, .listed, .adopted, .unpublished, .deletePropagated, .primitivesWritten,
      .touchedInSave, .locked,
    ])
  }

  /// The context was reset.
  mutating func reset() { flags = flags.intersection(.observed).union(.fault) }

  /// The context has dropped the object.
  mutating func leaveContext() {
    flags.subtract([.inserted, .updated, .deleted, .listed, .adopted])
    flags.subtract(.event)
  }
}
