import CoreDataModelSchema

/// The contents of one store, as insertions into another.
///
/// Reads everything into memory, as Core Data does. Values are passed on unchanged, without creating objects
/// or calling hooks.
struct StoreCopy {
  /// Insertions with temporary IDs, ordered by entity and key.
  private(set) var entries: [ChangeLayer.Entry] = []
  /// The old IDs of the objects and their new ones.
  private(set) var ids: [(old: ObjectKey, new: NSManagedObjectID)] = []
  private var _new: [ObjectKey: NSManagedObjectID] = [:]

  /// - Parameters:
  ///   - engine: The store to read.
  ///   - context: A private context, which creates the temporary IDs.
  ///   - tellsAllMembers: Whether insertions include to-manys that follow from the to-one at the other end,
  ///     for a store that receives objects.
  /// - Throws: Errors of reading the store.
  init(of engine: any StoreEngine, in context: NSManagedObjectContext, tellsAllMembers: Bool) throws {
    var rows: [Row] = []
    for space in engine.spaces where !space.layout.isAbstract {
      var plan = FetchPlan(layout: space.layout)
      plan.includesSubentities = false
      let temporary = context.memo.temporarySpace(space.entity, space.layout)
      let found = try engine.fetch(plan)
      let values = try _rows(found, in: engine)
      for (stored, row) in zip(found, values) {
        guard let row else { continue }
        let id = NSManagedObjectID(temporaryIn: temporary)
        _new[stored.key] = id
        ids.append((stored.key, id))
        rows.append(row)
      }
    }
    let relationships = try _relationships(in: engine, all: tellsAllMembers)
    entries.reserveCapacity(ids.count)
    for (index, (old, new)) in ids.enumerated() {
      entries.append(_entry(new, old, rows[index], relationships[old] ?? [:]))
    }
  }

  /// The store may have returned IDs only.
  private func _rows(_ found: [StoredObject], in engine: any StoreEngine) throws -> [Row?] {
    if found.allSatisfy({ $0.row != nil }) { return found.map(\.row) }
    return try engine.rows(for: found.map(\.key))
  }

  /// Reads the members of to-manys that rows do not contain: those without a to-one at the other end, and
  /// ordered ones.
  private func _relationships(
    in engine: any StoreEngine, all: Bool
  ) throws -> [ObjectKey: [Int: ToManyDelta]] {
    var result: [ObjectKey: [Int: ToManyDelta]] = [:]
    for (_, owners) in Dictionary(grouping: ids.map(\.old), by: \.space.layout.entityNumber) {
      let layout = owners[0].space.layout
      for slot in layout.toManySlots {
        let relationship = layout.slots[slot].relationship!
        guard all || relationship.isManyToMany || relationship.isOrdered || relationship.inverseSlot == nil
        else { continue }
        for (owner, members) in zip(owners, try engine.related(to: owners, slot: slot)) {
          let new = members.compactMap { _new[$0] }
          if new.isEmpty { continue }
          result[owner, default: [:]][slot] = ToManyDelta(
            added: new, removed: [], order: relationship.isOrdered ? new : nil)
        }
      }
    }
    return result
  }

  private func _entry(
    _ new: NSManagedObjectID, _ old: ObjectKey, _ row: Row, _ members: [Int: ToManyDelta]
  ) -> ChangeLayer.Entry {
    let layout = old.space.layout
    var copy = Row(count: layout.slots.count, version: 1)
    var changed = SlotSet()
    for slot in layout.slots.indices {
      switch row[slot] {
      case .null, .toMany: continue
      case let value where layout.slots[slot].relationship != nil:
        // Skip a dangling reference.
        guard let target = value.key.flatMap({ _new[$0] }) else { continue }
        copy.set(.pending(target), at: slot)
      case let value: copy.set(value, at: slot)
      }
      changed.insert(slot)
    }
    for (slot, delta) in members {
      copy.set(.toMany(delta), at: slot)
      changed.insert(slot)
    }
    return ChangeLayer.Entry(kind: .inserted, id: new, base: nil, row: copy, changed: changed, isWhole: false)
  }
}
