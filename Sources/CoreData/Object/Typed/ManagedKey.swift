import CoreDataModelSchema
import Synchronization

/// A property of managed objects, as generated accessors use it. Looks up the name once per entity and then
/// accesses the property by slot.
///
/// The build plugin generates a key for each property, and accessors that subscript it: `titleKey[self]`.
/// Scalars are neither boxed nor looked up in a dictionary. Keys are thread-safe; objects are bound to their
/// context's queue.
///
/// ```swift
/// final class Note: NSManagedObject {
///   static let textKey = ManagedKey<String?>("text")
///
///   var text: String? {
///     get { Self.textKey[self] }
///     set { Self.textKey[self] = newValue }
///   }
/// }
/// ```
///
/// > Note: Not in Apple's Core Data, where the Objective-C runtime supplies the accessors.
public final class ManagedKey<Value>: Sendable {
  /// Name of the property.
  public let name: String
  let form: ManagedForm

  // A cache of the slots in four entities: the entity's serial number in the high half of each word, the slot
  // in the low half. A class usually has one entity and its subentities, so collisions are rare.
  private let _first = Atomic<UInt64>(0)
  private let _second = Atomic<UInt64>(0)
  private let _third = Atomic<UInt64>(0)
  private let _fourth = Atomic<UInt64>(0)

  /// Creates the key of a property.
  ///
  /// - Parameter name: The property's name in the model.
  public init(_ name: String) {
    self.name = name
    form = ManagedForm(Value.self)
  }

  /// Stands for the slot of a property without one, or whose type in the model is not `Value`.
  @inline(__always) static var indirect: Int { 0xFFFF_FFFF }

  /// Returns the property's slot in an object's entity, or `indirect` if it must be accessed by name.
  @inline(__always) func slot(in object: NSManagedObject) -> Int {
    let serial = object._shapeSerial
    let entry = _entry(serial)
    return entry >> 32 == UInt64(serial) ? Int(entry & 0xFFFF_FFFF) : _find(object._shape)
  }

  @inline(__always) private func _entry(_ serial: UInt32) -> UInt64 {
    switch serial & 3 {
    case 0: _first.load(ordering: .relaxed)
    case 1: _second.load(ordering: .relaxed)
    case 2: _third.load(ordering: .relaxed)
    default: _fourth.load(ordering: .relaxed)
    }
  }

  @inline(never) private func _find(_ shape: FrozenEntity) -> Int {
    var slot = Self.indirect
    if let found = shape.layout.slot(named: name), form.fits(shape.layout.slots[found]) { slot = found }
    let entry = UInt64(shape.serial) << 32 | UInt64(slot)
    switch shape.serial & 3 {
    case 0: _first.store(entry, ordering: .relaxed)
    case 1: _second.store(entry, ordering: .relaxed)
    case 2: _third.store(entry, ordering: .relaxed)
    default: _fourth.store(entry, ordering: .relaxed)
    }
    return slot
  }
}
