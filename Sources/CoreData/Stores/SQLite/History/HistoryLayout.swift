import ModelSchema

/// How history names the properties of an entity: a bit for each in ZCOLUMNS, a column for each that is kept of deleted
/// objects.
///
/// Bits count to-one relationships first (two bits where the destination's entity is stored beside its key), then
/// attributes, then to-many relationships; within a kind the root's properties come first, level by level, and on a level
/// they go by name. The first bit is the highest of the first byte.
struct HistoryLayout: Sendable {
  struct Entity: Sendable {
    /// Bits by slot; empty for what is not stored.
    let bits: [[Int]]
    /// Slot by bit.
    let slots: [Int]
    /// Slots of attributes kept of deleted objects, in the order of their columns.
    let preserved: [Int]

    /// Length of ZCOLUMNS in bytes.
    var byteCount: Int { (slots.count + 7) / 8 }

    /// ZCOLUMNS for these slots; nil when none of them has a bit.
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

    /// The slots that ZCOLUMNS names; bits that the model does not know are passed over.
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

  init(_ mapping: StoreMapping) {
    entities = mapping.layout.layouts.map { Self._entity($0, mapping) }
  }

  /// Columns that values of deleted objects need.
  var tombstoneCount: Int { entities.map(\.preserved.count).max() ?? 0 }

  private static func _entity(_ layout: PropertyLayout, _ mapping: StoreMapping) -> Entity {
    var levels: [Int: Int] = [:]
    var ancestors: [Int] = []
    var next: Int? = layout.entityNumber
    while let number = next {
      ancestors.append(number)
      next = mapping.layout.layout(numbered: number).parentNumber
    }
    for (level, number) in ancestors.reversed().enumerated() { levels[number] = level }
    let order = layout.slots.indices.sorted { left, right in
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
    for slot in order where layout.slots[slot].isToMany && !layout.slots[slot].isTransient { add(slot, 1) }
    let preserved = order.filter { slot in
      guard case .attribute = mapping.storage(of: slot, in: layout.entityNumber) else { return false }
      return layout.slots[slot].attribute?.preservesValueInHistoryOnDeletion ?? false
    }
    return Entity(bits: bits, slots: slots, preserved: preserved)
  }
}
