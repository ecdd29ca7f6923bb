/// The flags of an object's state; one word. `ObjectState` changes them.
struct ObjectFlags: OptionSet {
  let rawValue: UInt32

  // MARK: Towards the store

  static let inserted = ObjectFlags(rawValue: 1 << 0)
  static let updated = ObjectFlags(rawValue: 1 << 1)
  static let deleted = ObjectFlags(rawValue: 1 << 2)
  /// Inserted again into the context that had it: announced as inserted, and saved as what it is.
  static let reinserted = ObjectFlags(rawValue: 1 << 3)
  /// Delete rules have been applied.
  static let deletePropagated = ObjectFlags(rawValue: 1 << 4)
  /// Another context has deleted the row.
  static let vanished = ObjectFlags(rawValue: 1 << 5)
  /// A new object that has taken over the identity of a stored row, whose values win: a fault once saved.
  static let yielded = ObjectFlags(rawValue: 1 << 6)
  /// The next save checks the version of the object, changed or not.
  static let locked = ObjectFlags(rawValue: 1 << 7)

  // MARK: Values

  /// Has no values, or does not show them yet.
  static let fault = ObjectFlags(rawValue: 1 << 8)
  /// A fault that was fetched with some of its properties, which can be read without filling it.
  static let partial = ObjectFlags(rawValue: 1 << 9)
  /// The draft has been handed out (published, or given to a save); it is copied before the next write.
  static let draftShared = ObjectFlags(rawValue: 1 << 10)
  /// Written through a primitive only; compared when the object is saved anyway.
  static let primitivesWritten = ObjectFlags(rawValue: 1 << 11)
  /// Inside `awakeFromFetch()`: assigning does not make the object dirty.
  static let awakening = ObjectFlags(rawValue: 1 << 12)

  // MARK: Lists of the context

  /// In the list of objects with unsaved changes of their own.
  static let listed = ObjectFlags(rawValue: 1 << 13)
  /// The unsaved state comes from a child's save and is in the context's overlay as well.
  static let adopted = ObjectFlags(rawValue: 1 << 14)
  /// Changed since the context last published its state to its children.
  static let unpublished = ObjectFlags(rawValue: 1 << 15)
  /// Changed since the current pass over `willSave` began.
  static let touchedInSave = ObjectFlags(rawValue: 1 << 16)
  /// The current save writes it.
  static let written = ObjectFlags(rawValue: 1 << 17)

  // MARK: Since changes were last processed

  static let eventInserted = ObjectFlags(rawValue: 1 << 18)
  static let eventUpdated = ObjectFlags(rawValue: 1 << 19)
  static let eventDeleted = ObjectFlags(rawValue: 1 << 20)
  static let eventRefreshed = ObjectFlags(rawValue: 1 << 21)
  static let eventMergedInsert = ObjectFlags(rawValue: 1 << 22)
  /// In the list of objects changed since the last event.
  static let eventListed = ObjectFlags(rawValue: 1 << 23)
  /// Has been announced as inserted: a merge that brings the insertion is not announced again.
  static let toldInserted = ObjectFlags(rawValue: 1 << 24)

  // MARK: Access

  /// Each use is checked for the right queue.
  static let checked = ObjectFlags(rawValue: 1 << 25)
  /// `withObservationTracking` records reads.
  static let recordsReads = ObjectFlags(rawValue: 1 << 26)
  /// A read was tracked: a registrar exists that must learn of writes.
  static let observed = ObjectFlags(rawValue: 1 << 27)

  // MARK: Together

  static let event: ObjectFlags = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed, .eventMergedInsert, .eventListed,
  ]

  /// In every list of changed objects.
  static let listedEverywhere: ObjectFlags = [.listed, .eventListed, .unpublished, .touchedInSave]

  /// Whether another change leaves the state as it is.
  var isRecordedAsChanged: Bool {
    isSuperset(of: .listedEverywhere) && !isDisjoint(with: [.eventInserted, .eventUpdated])
  }

  /// What must be handled before a value is touched.
  static let attention: ObjectFlags = [.fault, .checked, .recordsReads]
}
