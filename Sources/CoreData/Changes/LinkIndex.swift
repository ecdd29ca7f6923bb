import CoreDataModelSchema
import Synchronization

/// The two ends of a one-to-many relationship, as slots. Mutually inverse slots identify a relationship within the
/// entities of the objects it links.
struct LinkEnds: Hashable, Sendable {
  let toOne: Int
  let toMany: Int

  /// - Parameter slot: A to-many of `layout`. Nil if its members are not those whose to-ones point to the owner.
  init?(toMany slot: Int, of layout: PropertyLayout) {
    guard let relationship = layout.slots[slot].relationship, relationship.isOneToMany,
      let inverse = relationship.inverseSlot
    else { return nil }
    (toOne, toMany) = (inverse, slot)
  }
}

/// Finds a layer's entries by the targets of their to-ones. Indexes each relationship when it is first read.
final class LinkIndex: Sendable {
  private struct Links {
    var positions: [IdentityKey: [Int]] = [:]
    /// Links to objects that had only a temporary ID when they were indexed.
    var unsaved: [(target: NSManagedObjectID, position: Int)] = []
    var links = LinkedIDs.Mark()

    /// Rekeys links by the permanent IDs that their targets have since received.
    mutating func followIDs() {
      if unsaved.isEmpty || !links.advance() { return }
      unsaved.removeAll { target, position in
        let key = IdentityKey(target)
        if key.isTemporary { return false }
        positions[key, default: []].append(position)
        return true
      }
    }
  }

  private let _links = Mutex<[LinkEnds: Links]>([:])

  /// Returns the positions of the entries that set the to-one to `target`.
  func positions(of ends: LinkEnds, to target: NSManagedObjectID, in entries: [ChangeLayer.Entry]) -> [Int] {
    _links.withLock { links in
      var found = links.removeValue(forKey: ends) ?? Self._links(of: ends, in: entries)
      found.followIDs()
      defer { links[ends] = found }
      // The keys are taken after the index has followed the links: each link is indexed under one of them.
      let known = found.positions[.temporary(target)] ?? []
      if !target.isTemporary { return known }
      let current = IdentityKey(target)
      guard !current.isTemporary, let more = found.positions[current] else { return known }
      return known.isEmpty ? more : known + more.filter { !known.contains($0) }
    }
  }

  private static func _links(of ends: LinkEnds, in entries: [ChangeLayer.Entry]) -> Links {
    var links = Links()
    for (position, entry) in entries.enumerated() {
      guard let row = entry.row, entry.sets(ends.toOne), entry._has(ends) else { continue }
      switch row[ends.toOne] {
      case .reference(let key): links.positions[IdentityKey(key), default: []].append(position)
      case .pending(let id):
        let key = IdentityKey(id)
        links.positions[key, default: []].append(position)
        if key.isTemporary { links.unsaved.append((id, position)) }
      default: continue
      }
    }
    return links
  }
}

extension ChangeLayer.Entry {
  /// Whether the entry defines the value at a slot.
  func sets(_ slot: Int) -> Bool { kind == .inserted || kind == .updated && changed.contains(slot) }

  /// Whether the object's entity has the to-one of a relationship: other entities of the table may have another
  /// property at that slot.
  fileprivate func _has(_ ends: LinkEnds) -> Bool {
    let slots = id.space.layout.slots
    guard ends.toOne < slots.count, slots[ends.toOne].isToOne else { return false }
    return slots[ends.toOne].relationship?.inverseSlot == ends.toMany
  }
}

extension Row? {
  /// Returns the values of those to-ones that an entry sets.
  func ends(setBy entry: ChangeLayer.Entry) -> [(slot: Int, value: Value)] {
    entry.id.space.layout.toOneSlots.compactMap { slot in
      entry.sets(slot) ? (slot, self?[slot] ?? .null) : nil
    }
  }
}

/// The effect of unsaved changes on one end of a link.
enum LinkChange {
  /// No change: the state below applies.
  case unchanged
  /// The object is deleted.
  case gone
  case target(Value)

  func keeps(_ owner: NSManagedObjectID) -> Bool {
    switch self {
    case .unchanged: true
    case .gone: false
    case .target(let value): value.refers(to: owner)
    }
  }
}

extension Value {
  /// Whether a to-one value refers to an object.
  func refers(to target: NSManagedObjectID) -> Bool {
    switch self {
    case .reference(let key): IdentityKey(key) == IdentityKey(target)
    case .pending(let id): id.isSameObject(as: target)
    default: false
    }
  }
}

extension [ChangeLayer] {
  /// Returns the effect of these layers on an object's to-one.
  func change(of ends: LinkEnds, of member: IdentityKey) -> LinkChange {
    guard let entry = entry(for: member, withMembers: false) else { return .unchanged }
    guard let row = entry.row else { return .gone }
    return entry.sets(ends.toOne) ? .target(row[ends.toOne]) : .unchanged
  }

  /// Returns the objects whose to-one these layers set to `owner`.
  func members(_ ends: LinkEnds, of owner: NSManagedObjectID) -> [NSManagedObjectID] {
    var found: [NSManagedObjectID] = []
    var seen = IdentitySet()
    for layer in self {
      for entry in layer.entries(linking: ends, to: owner) {
        // A newer layer may have moved the object.
        guard seen.insert(entry.id), case .target(let value) = change(of: ends, of: IdentityKey(entry.id)),
          value.refers(to: owner)
        else { continue }
        found.append(entry.id)
      }
    }
    return found
  }
}
