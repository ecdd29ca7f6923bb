import CoreDataModelSchema
import Foundation

/// Loads many objects and relationships in bulk.
struct PrefetchPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// Attaches values to those faults that have none yet, without showing them; one statement per table.
  /// Damaged ones get none: firing them reports the damage.
  func loadValues(of objects: [NSManagedObject]) throws {
    let chain = ReadChain(above: context)
    var wanted: [ObjectKey: NSManagedObject] = [:]
    for object in objects where object.isFault && (object._row == nil || context.freshness.isExpired(object))
    {
      guard let key = object._key, !chain.contains(IdentityKey(key)) else {
        // An ancestor's unsaved values are in memory.
        do {
          _ = try FaultPass(context).load(object)
        } catch  where StoreErrors.isDamage(error) {}
        continue
      }
      wanted[key] = object
    }
    guard !wanted.isEmpty, let coordinator = context.persistentStoreCoordinator else { return }
    var keys: [ObjectKey] = []
    for (key, object) in wanted {
      if let row = coordinator.cachedRow(for: key, at: chain.generation, readSince: chain.earliestRow) {
        context.freshness.reattach(row, to: object)
      } else {
        keys.append(key)
      }
    }
    if keys.isEmpty { return }
    for (key, row) in zip(keys, try coordinator.readableRows(for: keys, at: chain.generation).rows) {
      if let row, let object = wanted[key] { context.freshness.reattach(row, to: object) }
    }
  }

  /// Prefetches relationships of fetched objects. Each step of a path takes one statement for the related IDs
  /// and one for their values. Faults among the objects stay faults.
  func run(_ paths: [String], from objects: [NSManagedObject]) throws {
    for path in paths {
      var level = objects
      for step in path.split(separator: ".") { level = try _prefetch(String(step), path, level) }
    }
  }

  private func _prefetch(
    _ step: String, _ path: String, _ objects: [NSManagedObject]
  ) throws -> [NSManagedObject] {
    try loadValues(of: objects)
    var reached: [NSManagedObject] = []
    var seen = Set<ObjectIdentifier>()
    func reach(_ object: NSManagedObject) {
      if seen.insert(ObjectIdentifier(object)).inserted { reached.append(object) }
    }
    var unread = UnreadMembers()
    let chain = ReadChain(above: context)
    for object in objects {
      guard let slot = object._layout.slot(named: step),
        let relationship = object._layout.slots[slot].relationship
      else {
        // Prefetching is a hint; the result does not depend on it.
        Console.warnOnce(
          about: "prefetching \(object._layout.entityName).\(step)",
          "relationshipKeyPathsForPrefetching names '\(path)', but '\(object._layout.entityName)' has no relationship "
            + "'\(step)'; the path is ignored.")
        continue
      }
      if !relationship.isToMany {
        if let target = _destination(of: object, slot) { reach(target) }
      } else if let state = object._relations?.members(slot), state.isRealised {
        state.list.forEach(reach)
      } else if let key = object._key, !object.isNew, !chain.hasOverlays {
        unread.append(object, slot, key)
      } else {
        object.members(slot).list.forEach(reach)
      }
    }
    try _read(unread, chain) { _, _, state in state.list.forEach(reach) }
    try loadValues(of: reached)
    return reached
  }

  /// Reads to-manys, with a statement for each relationship.
  private func _read(
    _ unread: UnreadMembers, _ chain: ReadChain, _ body: (NSManagedObject, Int, ToManyState) -> Void
  ) throws {
    guard let coordinator = context.persistentStoreCoordinator else { return }
    for group in unread.groups.values {
      let slot = group.slot
      let members = try coordinator.related(to: group.keys, slot: slot, at: chain.generation)
      for (owner, keys) in zip(group.owners, members) {
        let state = owner.makeMembers(slot)
        // An object may be given twice: deleted, brought back by an undo, and deleted again.
        if state.isRealised { continue }
        let keys =
          context.unreadDeletions.isEmpty ? keys : keys.filter { !context.unreadDeletions.contains($0) }
        context.links.realise(state, keys.map { context.registry.object(for: $0) }, slot, of: owner)
        body(owner, slot, state)
      }
    }
  }

  /// Reads in bulk what the delete rules of objects follow, which would take statements for each of them: their values, the
  /// members of their to-manys, and the values of objects whose to-one will be cut.
  ///
  /// What cannot be read in bulk is read when a rule comes to it, which tells of the error.
  func readForRules(of objects: [NSManagedObject]) {
    let chain = ReadChain(above: context)
    guard !chain.hasOverlays else { return }
    try? loadValues(of: objects.filter { $0._row == nil })
    var unread = UnreadMembers()
    var cut: [NSManagedObject] = []
    func reach(_ other: NSManagedObject, _ relationship: PropertyLayout.Relationship) {
      guard other._row == nil, let inverse = relationship.inverseSlot else { return }
      if !other._layout.slots[inverse].isToMany { cut.append(other) }
    }
    for object in objects {
      // A fault that is still without values is gone, or is reported when it is fired.
      guard let key = object._key, !object.isNew, object._row != nil || !object.isFault else { continue }
      for slot in object._layout.followedSlots {
        guard let relationship = object.relationship(slot) else { continue }
        if !object._layout.slots[slot].isToMany {
          if let target = _destination(of: object, slot) { reach(target, relationship) }
        } else if let state = object._relations?.members(slot), state.isRealised {
          for member in state.list { reach(member, relationship) }
        } else if !object._layout.slots[slot].isTransient {
          unread.append(object, slot, key)
        }
      }
    }
    try? _read(unread, chain) { owner, slot, state in
      guard let relationship = owner.relationship(slot) else { return }
      for member in state.list { reach(member, relationship) }
    }
    try? loadValues(of: cut)
  }

  /// Returns the destination from values in memory, without firing the object's fault.
  private func _destination(of object: NSManagedObject, _ slot: Int) -> NSManagedObject? {
    if let target = object._relations?.target(slot) { return target }
    switch object._current?[slot] {
    case .reference(let key)?: return context.registry.object(for: key)
    case .pending(let id)?: return context.registry.objectOrFault(id)
    default: return nil
    }
  }

  /// Returns the stored ones of some objects that children have changed although others had deleted their rows: without
  /// the change, nothing is left of them. Rows in memory are there; others are read in one batch.
  ///
  /// - Parameter chain: A chain that must not wait for ancestors.
  func missing(among changed: [NSManagedObject], _ chain: ReadChain) -> IdentitySet {
    var missing = IdentitySet()
    var keys: [ObjectKey] = []
    for object in changed where !object._flags.contains(.inserted) {
      guard let key = object._objectID.key else { continue }
      if chain.deletes(object._objectID) {
        _ = missing.insert(object._objectID)
      } else if chain.newestRow(for: object._objectID) == nil {
        keys.append(key)
      }
    }
    // What cannot be read stays; firing it reports why.
    guard !keys.isEmpty, let read = try? chain.coordinator?.readableRows(for: keys) else { return missing }
    for (position, key) in keys.enumerated() where read.rows[position] == nil && read.damage[position] == nil
    {
      missing.insert(NSManagedObjectID(key))
    }
    return missing
  }

  /// Refreshes registered objects with current stored values, keeping unsaved changes.
  func refresh(_ objects: [NSManagedObject]) throws {
    let stored = objects.filter { $0._row != nil && $0._key != nil && !$0._flags.contains(.deleted) }
    guard !stored.isEmpty, let coordinator = context.persistentStoreCoordinator else { return }
    let chain = ReadChain(above: context)
    let rows = try coordinator.readableRows(for: stored.map { $0._key! }, at: chain.generation).rows
    for (object, row) in zip(stored, rows) {
      guard let row, let mine = object._row, !(mine === row), mine.version != row.version,
        !chain.contains(IdentityKey(of: object))
      else { continue }
      if object.isFault {
        context.links.attachRowToFault(row, at: object)
        continue
      }
      context.links.show(row, at: object)
      if object._shape.hasOwnClass { object.awake(fromSnapshotEvents: .refresh) }
      context.editing.recordEvent(object, .eventRefreshed)
    }
  }
}

/// To-manys to read, by relationship and store.
private struct UnreadMembers {
  struct Place: Hashable {
    let store: ObjectIdentifier?
    let entity: Int
    let slot: Int
  }

  struct Group {
    let slot: Int
    var owners: [NSManagedObject] = []
    var keys: [ObjectKey] = []
  }

  private(set) var groups: [Place: Group] = [:]

  mutating func append(_ owner: NSManagedObject, _ slot: Int, _ key: ObjectKey) {
    let place = Place(
      store: key.space.store.map { ObjectIdentifier($0) }, entity: owner._layout.entityNumber, slot: slot)
    groups[place, default: Group(slot: slot)].owners.append(owner)
    groups[place]!.keys.append(key)
  }
}
