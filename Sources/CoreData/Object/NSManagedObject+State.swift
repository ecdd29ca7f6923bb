import CoreDataModelSchema
import Foundation

extension NSManagedObject {
  /// The entity's slots, defaults and codings.
  @inline(__always)
  final var _shape: FrozenEntity { _shapeReference.takeUnretainedValue() }

  @inline(__always)
  final var _layout: PropertyLayout { _shape.layout }

  /// The serial number of the frozen entity, read without retaining the entity.
  @inline(__always) final var _shapeSerial: UInt32 {
    Unmanaged.passUnretained(_shape)._withUnsafeGuaranteedRef { $0.serial }
  }

  /// The context the object is registered with.
  @inline(__always) final var _context: NSManagedObjectContext? {
    get { _contextReference?.takeUnretainedValue() }
    set { _contextReference = newValue.map(Unmanaged.passUnretained) }
  }

  /// Whether another object has the same context, or none either. Compares addresses.
  @inline(__always) final func sharesContext(with other: NSManagedObject) -> Bool {
    _contextReference?.toOpaque() == other._contextReference?.toOpaque()
  }

  /// The last fetched or saved values; nil in a fault and in a never-saved object.
  @inline(__always) final var _row: Row? { _values.row }

  /// The current values, once one of them was assigned.
  @inline(__always) final var _draft: Row? { _values.draft }

  /// Slots assigned since the object was last fetched or saved.
  @inline(__always) final var _changed: SlotSet { _values.changed }

  /// The flags of the object's state.
  @inline(__always) final var _flags: ObjectFlags { _state.flags }

  /// The object's ID, without creating a temporary one: registered objects have an ID.
  @inline(__always) final var _objectID: NSManagedObjectID { _id ?? _makeID() }

  @inline(never) private final func _makeID() -> NSManagedObjectID {
    let shared = _contextReference?._withUnsafeGuaranteedRef { $0.memo.temporarySpace(_entity, _layout) }
    let space =
      shared ?? ObjectIDSpace(layout: _layout, entity: _entity, store: nil, persistentStore: nil)
    let id = NSManagedObjectID(temporaryIn: space)
    identify(as: id)
    return id
  }

  /// The object's ID. May be read on any thread. Becomes permanent when the object is saved to a store.
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

  /// The object's entity. May be read on any thread.
  public final var entity: NSEntityDescription { _entity }

  /// The object's context. Nil once a deletion of the object is saved, or after its context was reset or
  /// deallocated.
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

  /// Whether a property was assigned since the last save.
  public final var isUpdated: Bool { _flags.contains(.updated) && !_flags.contains(.deleted) }

  /// Whether the next save deletes the object.
  public final var isDeleted: Bool { _flags.contains(.deleted) }

  final var isDirty: Bool { !_flags.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether the object's values are not loaded.
  ///
  /// ```swift
  /// let loaded = context.registeredObjects.filter { !$0.isFault }
  /// ```
  public final var isFault: Bool { _flags.contains(.fault) }

  /// 0 if all values are loaded.
  public final var faultingState: Int { isFault ? 1 : 0 }

  /// The current values; nil in a fault.
  @inline(__always)
  final var _current: Row? { _values.current }

  /// Reads from the current values without retaining them; nil if there are none. `body` must not change the
  /// object.
  @inline(__always) final func readCurrent<Result>(_ body: (Row) -> Result?) -> Result? {
    guard let row = _values.draft?.unretained ?? _values.row?.unretained else { return nil }
    return row._withUnsafeGuaranteedRef { body(Row($0)) }
  }
}
