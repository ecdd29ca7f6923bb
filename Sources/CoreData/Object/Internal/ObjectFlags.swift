/// The flags of an object's state, packed into one word. Only `ObjectState` mutates them.
struct ObjectFlags: OptionSet {
  let rawValue: UInt32

  // MARK: Relative to the store

  static let inserted = ObjectFlags(rawValue: 1 << 0)
  static let updated = ObjectFlags(rawValue: 1 << 1)
  static let deleted = ObjectFlags(rawValue: 1 << 2)
  /// Inserted again into the context that it is registered with: announced as inserted, saved as an update.
  static let reinserted = ObjectFlags(rawValue: 1 << 3)
  /// Delete rules have been applied.
  static let deletePropagated = ObjectFlags(rawValue: 1 << 4)
  /// Another context has deleted the row.
  static let deletedInStore = ObjectFlags(rawValue: 1 << 5)
  /// The next save checks the object's version even if the object is clean.
  static let locked = ObjectFlags(rawValue: 1 << 7)

  // MARK: Values

  /// No values are loaded, or they are hidden until the fault fires.
  static let fault = ObjectFlags(rawValue: 1 << 8)
  /// A fault fetched with some of its properties, which can be read without firing it.
  static let partial = ObjectFlags(rawValue: 1 << 9)
  /// The draft is shared with a published layer or a save. The next write copies it.
  static let draftShared = ObjectFlags(rawValue: 1 << 10)
  /// Written only through primitives, which leave the object clean; compared if it is saved for another
  /// reason.
  static let primitivesWritten = ObjectFlags(rawValue: 1 << 11)
  /// Inside `awakeFromFetch()`: assigning does not make the object dirty.
  static let awakening = ObjectFlags(rawValue: 1 << 12)
  /// A read or a write of the object has failed since the context was last rolled back.
  static let failed = ObjectFlags(rawValue: 1 << 29)

  // MARK: Lists of the context

  /// In the list of objects that have unsaved changes in this context.
  static let listed = ObjectFlags(rawValue: 1 << 13)
  /// The unsaved state comes from a child's save. The context's overlay has it, too.
  static let adopted = ObjectFlags(rawValue: 1 << 14)
  /// Changed since the context last published its state to its children.
  static let unpublished = ObjectFlags(rawValue: 1 << 15)
  /// Changed since the current pass over `willSave` began.
  static let touchedInSave = ObjectFlags(rawValue: 1 << 16)
  /// Written by the current save.
  static let written = ObjectFlags(rawValue: 1 << 17)

  // MARK: Since changes were last processed

  static let eventInserted = ObjectFlags(rawValue: 1 << 18)
  static let eventUpdated = ObjectFlags(rawValue: 1 << 19)
  static let eventDeleted = ObjectFlags(rawValue: 1 << 20)
  static let eventRefreshed = ObjectFlags(rawValue: 1 << 21)
  static let eventMergedInsert = ObjectFlags(rawValue: 1 << 22)
  /// In the list of objects that the next change notification covers.
  static let eventListed = ObjectFlags(rawValue: 1 << 23)
  /// Already announced as inserted. A merge of the same insertion does not announce it again.
  static let insertionAnnounced = ObjectFlags(rawValue: 1 << 24)

  /// Not deleted here: this context has merged the deletion, or found the row missing.
  static let deletedElsewhere = ObjectFlags(rawValue: 1 << 30)
  /// Already announced as deleted.
  static let deletionAnnounced = ObjectFlags(rawValue: 1 << 28)

  // MARK: Access

  /// Each access verifies that it runs on the context's queue.
  static let checked = ObjectFlags(rawValue: 1 << 25)
  /// `withObservationTracking` records reads.
  static let recordsReads = ObjectFlags(rawValue: 1 << 26)
  /// A read was tracked: a registrar exists, which must be notified of writes.
  static let observed = ObjectFlags(rawValue: 1 << 27)

  // MARK: Together

  /// Deleted, and how far the deletion has come.
  static let deletion: ObjectFlags = [
    .deleted, .deletePropagated, .deletionAnnounced, .deletedInStore, .deletedElsewhere,
  ]

  static let event: ObjectFlags = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed, .eventMergedInsert, .eventListed,
  ]

  /// On every list of changed objects.
  static let listedEverywhere: ObjectFlags = [.listed, .eventListed, .unpublished, .touchedInSave]

  /// Whether one more change would leave the state unchanged.
  var isRecordedAsChanged: Bool {
    isSuperset(of: .listedEverywhere) && !isDisjoint(with: [.eventInserted, .eventUpdated])
  }

  /// Conditions that take an access off its fast path.
  static let attention: ObjectFlags = [.fault, .checked, .recordsReads]
}
