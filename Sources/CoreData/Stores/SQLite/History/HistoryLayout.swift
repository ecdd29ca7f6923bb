import CoreDataModelSchema

/// The encoding of an entity's properties in history: a bit for each in ZCOLUMNS, a column for each that is
/// preserved for deleted objects.
///
/// Bits number to-one relationships first (two bits if the destination's entity is stored beside its key),
/// then attributes, then to-many relationships. In the first two groups the root's properties come first,
/// level by level, sorted by name on each level. To-many relationships follow their order in the model copy
/// in the store: by name in stores created here, in any order in Core Data's. The first bit is the highest
/// bit of the first byte.
struct HistoryLayout: Sendable {
  struct Entity: Sendable {
    /// Bits by slot; empty for transient slots.
    let bits: [[Int]]
    /// Slot by bit.
    let slots: [Int]
    /// Slots of attributes preserved for deleted objects, in the order of their columns.
    let preserved: [Int]

    /// Length of ZCOLUMNS in bytes.
    var byteCount: Int { (slots.count + 7) / 8 }

    /// Returns ZCOLUMNS for these slots; nil if none has a bit.
    func columns(for changed: SlotSet) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: byteCount)
      var isEmpty = true
      for slot in bits.indices where changed.contains(slot) {
        for bit in bits[slot] {
          bytes[bit / 8] |= 0x80 >> (bit % 8)
          isEmpty = false
        }
      }
      return isEmpty ? nil : bytes
    }

    /// Returns the slots set in ZCOLUMNS; ignores bits unknown to the model.
    func slots(in columns: UnsafeRawBufferPointer) -> [Int] {
      var result: [Int] = []
      for (bit, slot) in slots.enumerated() where bit / 8 < columns.count {
        if columns[bit / 8] & (0x80 >> (bit % 8)) != 0, result.last != slot { result.append(slot) }
      }
      return result
    }
  }

  /// By entity number - 1.
  let entities: [Entity]

  /// - Parameter propertyOrders: Properties of each entity, including inherited ones, in the order of the
  ///   model in the store; unlisted ones follow by name.
  init(_ mapping: StoreMapping, propertyOrders: [String: [String]] = [:]) {
    entities = mapping.layout.layouts.map { layout in
      Self._entity(layout, mapping, propertyOrders[layout.entityName] ?? [])
    }
  }

  /// Number of columns for values of deleted objects.
  var tombstoneCount: Int { entities.map(\.preserved.count).max() ?? 0 }

  private static func _entity(
    _ layout: PropertyLayout, _ mapping: StoreMapping, _ listed: [String]
  ) -> Entity {
    var levels: [Int: Int] = [:]
    var ancestors: [Int] = []
    var next: Int? = layout.entityNumber
    while let number = next {
      ancestors.append(number)
      next = mapping.layout.layout(numbered: number).parentNumber
    }
    for (level, number) in ancestors.reversed().enumerated() { levels[number] = level }
    let order = layout.slots.indices.ordered { left, right in
      let (first, second) = (layout.slots[left], layout.slots[right])
      let (upper, lower) = (levels[first.owner] ?? 0, levels[second.owner] ?? 0)
      return upper == lower ? first.name < second.name : upper < lower
    }
    var bits = [[Int]](repeating: [], count: layout.slots.count)
    var slots: [Int] = []
    func add(_ slot: Int, _ count: Int) {
      bits[slot] = Array(slots.count..<slots.count + count)
      slots += Array(repeating: slot, count: count)
    }
    for slot in order {
      guard case .toOne(_, let entityColumn, _, _) = mapping.storage(of: slot, in: layout.entityNumber),
        !layout.slots[slot].isHidden
      else { continue }
      add(slot, entityColumn == nil ? 1 : 2)
    }
    for slot in order {
      switch mapping.storage(of: slot, in: layout.entityNumber) {
      case .attribute: add(slot, 1)
      case .composite(let leaves): add(slot, leaves.count)
      default: break
      }
    }
    for slot in _toManySlots(of: layout, listed) { add(slot, 1) }
    let preserved = order.filter { slot in
      guard case .attribute = mapping.storage(of: slot, in: layout.entityNumber) else { return false }
      return layout.slots[slot].attribute?.preservesValueInHistoryOnDeletion ?? false
    }
    return Entity(bits: bits, slots: slots, preserved: preserved)
  }

  /// Returns stored to-many relationships in the order of the store's model, then the others by name.
  private static func _toManySlots(of layout: PropertyLayout, _ listed: [String]) -> [Int] {
    let ranks = Dictionary(listed.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    return layout.toManySlots.filter { !layout.slots[$0].isTransient }.ordered { left, right in
      let (first, second) = (layout.slots[left].name, layout.slots[right].name)
      let (one, other) = (ranks[first] ?? .max, ranks[second] ?? .max)
      return one == other ? first.utf16.lexicographicallyPrecedes(second.utf16) : one < other
    }
  }
}
