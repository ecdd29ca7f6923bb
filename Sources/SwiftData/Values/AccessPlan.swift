/// How the properties of a class are read and written in the objects of an entity: the accessors by the property's
/// index, each for its slot.
///
/// Immutable; any thread. Never freed.
final class AccessPlan: @unchecked Sendable {
  // Unchecked: nothing is written after the initializer.

  let accessors: [PropertyAccessor]
  let slots: UnsafePointer<Int>

  init(_ accessors: [PropertyAccessor]) {
    self.accessors = accessors
    let slots = UnsafeMutablePointer<Int>.allocate(capacity: max(1, accessors.count))
    for (index, accessor) in accessors.enumerated() { (slots + index).initialize(to: accessor.slot) }
    self.slots = UnsafePointer(slots)
  }
}
