import CoreDataModelSchema
import Foundation

extension NSManagedObject {
  final var _layout: PropertyLayout { _shape.layout }

  /// The flags of the object's state.
  @inline(__always) final var _flags: ObjectFlags { _state.flags }

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
