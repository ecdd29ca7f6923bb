import CoreDataModelSchema
import Foundation

// Loading many objects and relationships in bulk.

extension NSManagedObjectContext {
  /// Attaches values to those faults that have none yet, without showing them; one statement per table.
  /// Damaged ones get none: firing them reports the damage.
  final func loadValues(of objects: [NSManagedObject]) throws {
    let chain = ReadChain(above: self)
    var wanted: [ObjectKey: NSManagedObject] = [:]
    for object in objects where object.isFault && (object._row == nil || isExpired(object)) {
      guard let key = object._key, !chain.contains(IdentityKey(key)) else {
        // An ancestor's unsaved values are in memory.
        do {
          _ = try load(object)
        } catch  where StoreErrors.isDamage(error) {}
        continue
      }
      wanted[key] = object
    }
    guard !wanted.isEmpty, let coordinator = persistentStoreCoordinator else { return }
    var keys: [ObjectKey] = []
    for (key, object) in wanted {
      if let row = coordinator.cachedRow(for: key, at: chain.generation, readSince: chain.earliestRow) {
        reattach(row, to: object)
      } else {
        keys.append(key)
      }
    }
    if keys.isEmpty { return }
    for (key, row) in zip(keys, try coordinator.readableRows(for: keys, at: chain.generation).rows) {
      if let row, let object = wanted[key] { reattach(row, to: object) }
    }
  }

  /// Prefetches relationships of fetched objects. Each step of a path takes one statement for the related IDs
  /// and one for their values. Faults among the objects stay faults.
  final func prefetch(_ paths: [String], from objects: [NSManagedObject]) throws {
    for path in paths {
      var level = objects
      for step in path.split(separator: ".") { level = try _prefetch(String(step), path, level) }
    }
  }

  private final func _prefetch(
    _ step: String, _ path: String, _ objects: [NSManagedObject]
  ) throws -> [NSManagedObject] {
    try loadValues(of: objects)
    var reached: [NSManagedObject] = []
    var seen = Set<ObjectIdentifier>()
    func reach(_ object: NSManagedObject) {
      if seen.insert(ObjectIdentifier(object)).inserted { reached.append(object) }
    }
    var owners: [Int: [(owner: NSManagedObject, slot: Int, key: ObjectKey)]] = [:]
    let chain = ReadChain(above: self)
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
        owners[object._layout.entityNumber, default: []].append((object, slot, key))
      } else {
        object.members(slot).list.forEach(reach)
      }
    }
    for group in owners.values {
      let slot = group[0].slot
      let members =
        try persistentStoreCoordinator?.related(to: group.map(\.key), slot: slot, at: chain.generation) ?? []
      for (entry, keys) in zip(group, members) {
        let state = entry.owner.makeMembers(slot)
        let keys = unreadDeletions.isEmpty ? keys : keys.filter { !unreadDeletions.contains($0) }
        realise(state, keys.map { self.object(for: $0) }, slot, of: entry.owner)
        state.list.forEach(reach)
      }
    }
    try loadValues(of: reached)
    return reached
  }

  /// Returns the destination from values in memory, without firing the object's fault.
  private final func _destination(of object: NSManagedObject, _ slot: Int) -> NSManagedObject? {
    if let target = object._relations?.target(slot) { return target }
    switch object._current?[slot] {
    case .reference(let key)?: return self.object(for: key)
    case .pending(let id)?: return self.objectOrFault(id)
    default: return nil
    }
  }

  /// Refreshes registered objects with current stored values, keeping unsaved changes.
  final func refreshRefetched(_ objects: [NSManagedObject]) throws {
    let stored = objects.filter { $0._row != nil && $0._key != nil && !$0._flags.contains(.deleted) }
    guard !stored.isEmpty, let coordinator = persistentStoreCoordinator else { return }
    let chain = ReadChain(above: self)
    let rows = try coordinator.readableRows(for: stored.map { $0._key! }, at: chain.generation).rows
    for (object, row) in zip(stored, rows) {
      guard let row, let mine = object._row, !(mine === row), mine.version != row.version,
        !chain.contains(IdentityKey(of: object))
      else { continue }
      if object.isFault {
        showUnseen(row, at: object)
        continue
      }
      show(row, at: object)
      if object._shape.hasOwnClass { object.awake(fromSnapshotEvents: .refresh) }
      recordEvent(object, .eventRefreshed)
    }
  }
}
