import CoreDataModelSchema

// What the stores have, under changes that were not made on it.

extension NSManagedObjectContext {
  /// The entries of a root context's save as its stores are to write them.
  ///
  /// What children have handed up is made to the rows that the stores have now: this context has read none that could be
  /// in conflict. An object of its own is checked for one, so that its row must be a stored one: one that a child had
  /// read, from unsaved changes that were thrown away meanwhile, is replaced.
  ///
  /// Reads nothing where no child has ever been, or where the rows are in the row cache.
  ///
  /// - Throws: What reading the rows throws.
  final func onStoredRows(_ entries: [Layer.Entry]) throws -> [Layer.Entry] {
    guard overlay.hasReaders, let coordinator = persistentStoreCoordinator else { return entries }
    var result: [Layer.Entry?] = entries
    var unknown: [(position: Int, key: ObjectKey)] = []
    for (position, entry) in entries.enumerated() where entry.kind == .updated {
      guard let key = entry.id.key else { continue }
      if let row = coordinator.rowCache.row(for: key) {
        result[position] = try _entry(entry, on: row)
      } else if !(entry.base?.isPacked ?? false) || !_isOwn(entry) {
        unknown.append((position, key))
      }
    }
    if unknown.isEmpty { return result.compactMap(\.self) }
    for (place, stored) in zip(unknown, try coordinator.rows(for: unknown.map(\.key))) {
      // Of a row that is gone the store tells.
      if let stored { result[place.position] = try _entry(entries[place.position], on: stored) }
    }
    return result.compactMap(\.self)
  }

  private final func _entry(_ entry: Layer.Entry, on stored: Row) throws -> Layer.Entry? {
    guard _isOwn(entry), let object = table.object(for: entry.id) else { return written(entry, over: stored) }
    // One of another version is left to the check of versions.
    guard let base = object._row, base.version == stored.version,
      !base.hasSameValues(as: stored, object._layout)
    else { return entry }
    show(stored, at: object)
    return try savedEntry(for: object)
  }

  /// A child's change as a store is to write it over a row that it has, which the object then shows.
  final func written(_ entry: Layer.Entry, over stored: Row) -> Layer.Entry {
    let written = entry.written(over: stored)
    let object = table.object(for: entry.id)
    let known = object.map(\._row) ?? entry.base
    if !(known === stored) {
      rereadInverses(entry.id.space.layout, from: known, to: stored)
      // Members that others have added or removed are to be read again.
      object?._relations?.dropClean()
    }
    if let object {
      object._row = stored
      object._draft = written.row
      object._state.shareDraft()
    }
    return written
  }

  private final func _isOwn(_ entry: Layer.Entry) -> Bool {
    table.object(for: entry.id)?._flags.contains(.listed) ?? false
  }
}
