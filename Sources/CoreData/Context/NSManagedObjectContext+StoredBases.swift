import CoreDataModelSchema

// What the stores have, under changes that children made on rows which were never stored.

extension NSManagedObjectContext {
  /// The entries of a save, those made on an unsaved row of a parent put on the row that is stored under the
  /// same version.
  ///
  /// A row handed up by a child has the version that it will have once stored. If the parent has dropped it
  /// meanwhile (by a rollback, or settling a conflict) and another context has stored a row of its own, both
  /// have that version: the store would take the change, rightly, but the whole row made on other values
  /// would go to the row cache and to merging contexts. Entries of another version than the stored row's are
  /// left to the check of versions.
  ///
  /// Reads nothing where no child has ever been, or where each row is known to be the stores'.
  ///
  /// - Throws: What reading the rows throws.
  final func onStoredRows(_ entries: [Layer.Entry]) throws -> [Layer.Entry] {
    guard overlay.hasReaders, let coordinator = persistentStoreCoordinator else { return entries }
    var positions: [Int] = []
    var keys: [ObjectKey] = []
    for (position, entry) in entries.enumerated() where entry.kind == .updated {
      // Packed rows come from a store; others do if the cache has the same.
      guard let base = entry.base, !base.isPacked, let key = entry.id.key else { continue }
      if let known = coordinator.rowCache.row(for: key), known === base { continue }
      positions.append(position)
      keys.append(key)
    }
    if keys.isEmpty { return entries }
    var result: [Layer.Entry?] = entries
    for (position, stored) in zip(positions, try coordinator.rows(for: keys)) {
      let entry = entries[position]
      guard let stored, stored.version == entry.base?.version, entry.differs(from: stored) else { continue }
      if let object = table.object(for: entry.id), object._flags.contains(.listed) {
        show(stored, at: object)
        result[position] = try savedEntry(for: object)
      } else if let renewed = entry.rebased(on: stored) {
        result[position] = renewed
      }
    }
    return result.compactMap(\.self)
  }
}

extension Layer.Entry {
  /// Whether a row has other values than the entry has where it changes nothing.
  fileprivate func differs(from stored: Row) -> Bool {
    guard let base else { return false }
    let slots = id.space.layout.slots
    return slots.indices.contains { slot in
      !slots[slot].isToMany && !slots[slot].isTransient && !changed.contains(slot)
        && stored[slot] != base[slot]
    }
  }
}
