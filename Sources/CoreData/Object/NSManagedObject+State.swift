import CoreDataModelSchema
import Foundation

extension NSManagedObject {
  final var _layout: PropertyLayout { _shape.layout }

  /// The object's ID without creating a temporary one on the way: registered objects have one.
  @inline(__always) final var _objectID: NSManagedObjectID { _id ?? _makeID() }

  @inline(never) private final func _makeID() -> NSManagedObjectID {
    let space =
      _context?.temporarySpace(_entity, _layout)
      ?? ObjectIDSpace(layout: _layout, entity: _entity, store: nil, persistentStore: nil)
    let id = NSManagedObjectID(temporaryIn: space)
    _id = id
    return id
  }

  /// Identity. May be read on any thread. Becomes permanent when the object is saved to a store.
  ///
  /// ```swift
  /// let id = book.objectID
  /// try await background.perform {
  ///   let copy = try background.existingObject(with: id) as? Book
  ///   copy?.title = "Orlando"
  ///   try background.save()
  /// }
  /// ```
  public final var objectID: NSManagedObjectID { _objectID }

  /// Entity of the object. May be read on any thread.
  public final var entity: NSEntityDescription { _entity }

  /// Context the object belongs to; nil after it was deleted and saved, or its context was reset or is gone.
  ///
  /// ```swift
  /// try book.managedObjectContext?.save()
  /// ```
  public final var managedObjectContext: NSManagedObjectContext? { _context }

  /// Whether the object was inserted and not yet saved.
  ///
  /// ```swift
  /// if book.isInserted { print("not saved yet") }
  /// ```
  public final var isInserted: Bool { _flags.contains(.inserted) }

  /// Whether a property was assigned since the object was last saved.
  public final var isUpdated: Bool { _flags.contains(.updated) && !_flags.contains(.deleted) }

  /// Whether the object will be deleted by the next save.
  public final var isDeleted: Bool { _flags.contains(.deleted) }

  final var isDirty: Bool { !_flags.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether the object has no values loaded.
  ///
  /// ```swift
  /// let loaded = context.registeredObjects.filter { !$0.isFault }
  /// ```
  public final var isFault: Bool { _flags.contains(.fault) }

  /// 0 when all values are loaded.
  public final var faultingState: Int { isFault ? 1 : 0 }

  /// Values as they are now; nil in a fault.
  final var _current: Row? { _draft ?? _row }

  /// Reads from the values as they are now, without a retain of them; nil if there are none. `body` must not change the object.
  @inline(__always) final func readCurrent<Result>(_ body: (Row) -> Result?) -> Result? {
    guard let row = _draft?.unretained ?? _row?.unretained else { return nil }
    return row._withUnsafeGuaranteedRef { body(Row($0)) }
  }
}

/// Where an object stands in its context; one word.
struct ObjectFlags: OptionSet {
  let rawValue: UInt32

  // Towards the store.
  static let inserted = ObjectFlags(rawValue: 1 << 0)
  static let updated = ObjectFlags(rawValue: 1 << 1)
  static let deleted = ObjectFlags(rawValue: 1 << 2)
  /// Has no values loaded, or has them attached but not shown yet.
  static let fault = ObjectFlags(rawValue: 1 << 3)
  /// In the context's list of objects with unsaved changes of its own.
  static let listed = ObjectFlags(rawValue: 1 << 4)
  /// The draft has been handed out (published, or given to a save) and must be copied before the next write.
  static let draftShared = ObjectFlags(rawValue: 1 << 5)
  /// The unsaved state comes from a child's save and is in the context's overlay as well.
  static let adopted = ObjectFlags(rawValue: 1 << 6)

  /// Inserted again though the context had it: announced as inserted, and saved as what it is.
  static let reinserted = ObjectFlags(rawValue: 1 << 7)

  // Since changes were last processed.
  static let eventInserted = ObjectFlags(rawValue: 1 << 8)
  static let eventUpdated = ObjectFlags(rawValue: 1 << 9)
  static let eventDeleted = ObjectFlags(rawValue: 1 << 10)
  static let eventRefreshed = ObjectFlags(rawValue: 1 << 11)
  static let eventMergedInsert = ObjectFlags(rawValue: 1 << 12)
  /// In the context's list of objects changed since the last event.
  static let eventListed = ObjectFlags(rawValue: 1 << 13)
  static let event: ObjectFlags = [
    .eventInserted, .eventUpdated, .eventDeleted, .eventRefreshed, .eventMergedInsert, .eventListed,
  ]

  /// On every list of changed objects.
  static let listedEverywhere: ObjectFlags = [.listed, .eventListed, .unpublished, .touchedInSave]
  /// Whether the context has recorded the object as changed, so that another change adds nothing.
  var isRecordedAsChanged: Bool {
    isSuperset(of: .listedEverywhere) && !isDisjoint(with: [.eventInserted, .eventUpdated])
  }

  // Passing states.
  /// Inside awakeFromFetch: assigning does not make the object dirty.
  static let awakening = ObjectFlags(rawValue: 1 << 16)
  /// Delete rules have been applied.
  static let deletePropagated = ObjectFlags(rawValue: 1 << 17)
  /// Changed since the context last published its state to its children.
  static let unpublished = ObjectFlags(rawValue: 1 << 18)
  /// Written through a primitive only; looked at when the object is saved anyway.
  static let primitivesWritten = ObjectFlags(rawValue: 1 << 19)
  /// Its version is checked at the next save though it was not changed.
  static let locked = ObjectFlags(rawValue: 1 << 20)
  /// Written again since the current pass over willSave hooks.
  static let touchedInSave = ObjectFlags(rawValue: 1 << 21)
  /// Reads are recorded by `withObservationTracking`.
  static let recordsReads = ObjectFlags(rawValue: 1 << 30)
  /// Its context has every use checked for the right queue.
  static let checked = ObjectFlags(rawValue: 1 << 23)
  /// What has to be looked after before a value is touched.
  static let attention: ObjectFlags = [.fault, .checked, .recordsReads]
  /// The save under way writes it.
  static let written = ObjectFlags(rawValue: 1 << 22)
  /// To be deleted, but its row is gone already.
  static let vanished = ObjectFlags(rawValue: 1 << 24)
  /// A fault that was fetched with some of its properties, which can be read without filling it.
  static let partial = ObjectFlags(rawValue: 1 << 27)
  /// Has been announced as inserted: a merge that tells of its insertion is no news.
  static let toldInserted = ObjectFlags(rawValue: 1 << 26)
  /// A new object that has become a stored one, whose values won: a fault once saved.
  static let yielded = ObjectFlags(rawValue: 1 << 28)
  /// A read was tracked: a registrar exists that must learn of writes.
  static let observed = ObjectFlags(rawValue: 1 << 25)
}
