import CoreDataModelSchema

/// The names of join tables and of their columns in a new file.
///
/// Entities are visited by name, each after its superentity; a pair of relationships is named when its first
/// side is met. The table has the name of that side, and columns of equal names are numbered in that order.
/// Nearly every file of Core Data's agrees; where one does not, `SchemaBinder` goes by the file.
struct JoinNaming {
  /// A relationship, by the entity that declares it.
  struct Side: Hashable {
    let entity: Int
    let slot: Int
    init(_ entity: Int, _ slot: Int) {
      self.entity = entity
      self.slot = slot
    }
  }

  private let _layout: ModelLayout
  private let _numbers: EntityNumbers
  private var _columns: [Side: String] = [:]
  private var _named: Set<Side> = []

  init(_ layout: ModelLayout, _ numbers: EntityNumbers) {
    _layout = layout
    _numbers = numbers
    var names = NameSupply()
    var visited: Set<Int> = []
    func visit(_ entity: PropertyLayout) {
      guard visited.insert(entity.entityNumber).inserted else { return }
      if let parent = entity.parentNumber { visit(layout.layout(numbered: parent)) }
      for slot in Self.slots(of: entity) { _name(Side(entity.entityNumber, slot), &names) }
    }
    guard layout.layouts.contains(where: { $0.slots.contains { $0.relationship?.isManyToMany ?? false } })
    else {
      return
    }
    // Lower-case names once for each entity, not for each comparison.
    let keys = layout.layouts.map { ($0.entityName.lowercased(), $0.entityName) }
    for index in layout.layouts.indices.ordered(by: { keys[$0] < keys[$1] }) {
      visit(layout.layouts[index])
    }
  }

  private mutating func _name(_ side: Side, _ names: inout NameSupply) {
    guard _columns[side] == nil, let other = self.other(of: side) else { return }
    _columns[side] = names.reserve(stem(of: side))
    if other != side { _columns[other] = names.reserve(stem(of: other)) }
    let isFirst =
      side.entity != other.entity || side == other || _isTransient(other)
      || _precedes(name(of: side), name(of: other))
    _named.insert(isFirst ? side : other)
  }

  private func _isTransient(_ side: Side) -> Bool {
    _layout.layout(numbered: side.entity).slots[side.slot].isTransient
  }

  /// Of two relationships of one entity, the table is mostly named after the one with the shorter name.
  private func _precedes(_ one: String, _ other: String) -> Bool {
    one.count != other.count ? one.count < other.count : one < other
  }

  /// Whether the table has the name of this side rather than the other's.
  func isNamedAfter(_ side: Side) -> Bool { _named.contains(side) }

  /// Returns the column that references the rows which own the relationship, without its prefix: their
  /// entity's number, the name of the relationship that leads to them, and a number if the name is taken.
  func column(of side: Side) -> String { _columns[side] ?? stem(of: side) }

  /// Returns the column without a number at its end.
  func stem(of side: Side) -> String {
    guard let other = other(of: side) else { return "" }
    return "\(_numbers.stored(for: side.entity))\(name(of: other).uppercased())"
  }

  func name(of side: Side) -> String { _layout.layout(numbered: side.entity).slots[side.slot].name }

  /// Returns the inverse, which is the side itself if that is its own inverse.
  func other(of side: Side) -> Side? {
    let relationship = _layout.layout(numbered: side.entity).slots[side.slot].relationship!
    guard let inverse = relationship.inverseSlot else { return nil }
    return Side(_layout.layout(numbered: relationship.destination).slots[inverse].owner, inverse)
  }

  /// Returns the many-to-manys that an entity declares, by name.
  static func slots(of entity: PropertyLayout) -> [Int] {
    entity.slots.indices
      .filter {
        let slot = entity.slots[$0]
        return slot.owner == entity.entityNumber && !slot.isTransient
          && slot.relationship?.isManyToMany ?? false
      }
      .ordered { entity.slots[$0].name.utf16.lexicographicallyPrecedes(entity.slots[$1].name.utf16) }
  }
}
