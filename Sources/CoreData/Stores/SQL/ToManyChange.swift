import CoreDataModelSchema

/// A change of a to-many relationship of one object that a save writes.
package struct ToManyChange: Sendable {
  /// Primary key of the object.
  package let owner: Int64
  package let layout: PropertyLayout
  package let slot: Int
  package let delta: ToManyDelta

  /// The members that a store may have. Unsaved ones are not stored, so they need no removal.
  package var removed: [NSManagedObjectID] { delta.removed.filter(\.isPermanent) }

  /// Returns the members' keys in the order to store: the save's own, followed by members that others have added
  /// meanwhile.
  ///
  /// - Parameters:
  ///   - present: The stored members' keys, in the stored order.
  ///   - key: Returns a member's key.
  package func order(over present: [Int64], key: (NSManagedObjectID) throws -> Int64) rethrows -> [Int64] {
    guard let order = delta.order else { return present }
    let stored = Set(present)
    var seen: Set<Int64> = []
    var result: [Int64] = []
    for member in order {
      let key = try key(member)
      if stored.contains(key), seen.insert(key).inserted { result.append(key) }
    }
    return result + present.filter { !seen.contains($0) }
  }
}

extension ChangeSet {
  /// Returns the changes of to-manys, those of updated objects first.
  ///
  /// - Parameters:
  ///   - insertedKeys: The keys of the inserted objects, in their order.
  ///   - layout: Returns the layout of an object in the store's model.
  ///   - key: Returns the key of an updated object.
  package func toManyChanges(
    insertedKeys: [Int64], layout: (NSManagedObjectID) throws -> PropertyLayout,
    key: (NSManagedObjectID, PropertyLayout, Int) throws -> Int64
  ) rethrows -> [ToManyChange] {
    var result: [ToManyChange] = []
    // Most objects have no such change: their layouts are not looked up.
    for update in updated {
      for slot in update.id.space.layout.toManySlots where update.changed.contains(slot) {
        guard slot < update.row.count, case .toMany(let delta) = update.row[slot] else { continue }
        let layout = try layout(update.id)
        let key = try key(update.id, layout, slot)
        result.append(ToManyChange(owner: key, layout: layout, slot: slot, delta: delta))
      }
    }
    for (index, insertion) in inserted.enumerated() {
      for slot in insertion.id.space.layout.toManySlots {
        guard slot < insertion.row.count, case .toMany(let delta) = insertion.row[slot] else { continue }
        let layout = try layout(insertion.id)
        result.append(ToManyChange(owner: insertedKeys[index], layout: layout, slot: slot, delta: delta))
      }
    }
    return result
  }
}

/// Rows of join tables that a save removes and adds, by the number of the table. Both ends of a relationship report
/// a pair; a set has it once.
package struct JoinedPairs {
  package struct Pair: Hashable, Comparable {
    package let first: Int64
    package let second: Int64

    package static func < (left: Pair, right: Pair) -> Bool {
      (left.first, left.second) < (right.first, right.second)
    }
  }

  package private(set) var removed: [Int: Set<Pair>] = [:]
  package private(set) var added: [Int: Set<Pair>] = [:]

  /// - Parameter key: Returns a member's key.
  package init(
    of changes: [ToManyChange], _ mapping: StoreMapping,
    key: (NSManagedObjectID, ToManyChange) throws -> Int64
  ) rethrows {
    for change in changes {
      guard
        case .manyToMany(let number, let ownerIsFirst, _) = mapping.storage(
          of: change.slot, in: change.layout.entityNumber)
      else { continue }
      func collect(_ members: [NSManagedObjectID], into pairs: inout [Int: Set<Pair>]) throws {
        for member in members {
          let key = try key(member, change)
          let (first, second) = ownerIsFirst ? (change.owner, key) : (key, change.owner)
          pairs[number, default: []].insert(Pair(first: first, second: second))
          if mapping.joins[number].isReflexive {
            pairs[number, default: []].insert(Pair(first: second, second: first))
          }
        }
      }
      try collect(change.removed, into: &removed)
      try collect(change.delta.added, into: &added)
    }
  }
}
