import CoreDataModelSchema

/// Tracks which to-manys a context has read.
struct ReadMembers {
  /// Entity numbers of the destinations of to-manys read here.
  private var _kinds: Set<Int> = []
  /// Whether members in memory were moved, in this context or by its children, without a change recorded with their owner.
  var hasMoved = false

  /// Records that a to-many with this destination entity was read or created.
  mutating func insert(kind: Int) { _kinds.insert(kind) }

  mutating func forgetKinds() { _kinds = [] }

  /// Whether a to-many read here may contain one of the objects. If not, the registry need not be searched.
  func mayHold(_ objects: Set<NSManagedObject>, in layouts: [PropertyLayout]) -> Bool {
    if _kinds.isEmpty { return false }
    let kinds = _kinds.map { layouts[$0 - 1] }
    return objects.contains { object in kinds.contains { object._layout.isKind(of: $0) } }
  }
}
