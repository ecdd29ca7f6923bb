import CoreDataModelSchema

/// What a context knows of the to-manys that were read in it.
struct ReadMembers {
  /// Entity numbers that members of to-manys may have here.
  private var _kinds: Set<Int> = []
  /// Whether members were left out of a to-many that was read, because they point elsewhere here.
  var hasLeftOut = false

  /// Records that a to-many was read or made whose destination is the entity of this number.
  mutating func insert(kind: Int) { _kinds.insert(kind) }

  mutating func forgetKinds() { _kinds = [] }

  /// Whether a to-many here may hold one of the objects. Most lists contain objects that no to-many was read for, and
  /// then the registry need not be searched.
  func mayHold(_ objects: Set<NSManagedObject>, in layouts: [PropertyLayout]) -> Bool {
    if _kinds.isEmpty { return false }
    let kinds = _kinds.map { layouts[$0 - 1] }
    return objects.contains { object in kinds.contains { object._layout.isKind(of: $0) } }
  }
}
