import CoreDataModelSchema

// Rebasing changes made on other rows on the stored ones.

extension NSManagedObjectContext {
  /// Returns the entries of a root context's save, rebased on stored rows.
  ///
  /// Changes from children are rebased on the current stored rows: this context has not read any that could
  /// conflict. Own objects are checked for conflicts, so their base must be a stored row; a base that came
  /// from a child and includes unsaved changes discarded since is replaced.
  ///
  /// Reads nothing if no child has attached or if the row cache has the rows.
  ///
  /// - Throws: Errors of reading the rows.
  final func onStoredRows(_ entries: [Layer.Entry]) throws -> [Layer.Entry] {
    guard overlay.hasReaders, let coordinator = persistentStoreCoordinator else { return entries }
    var result: [Layer.Entry?] = entries
    var unknown: [(position: Int, key: ObjectKey)] = []
    for (position, entry) in entries.enumerated() where entry.kind == .updated {
      guard let key = entry.id.key else { continue }
      if let row = coordinator.rowCache.row(for: key) {
        result[position] = try _entry(entry, on: row)
      } else if !(entry.base?.isAsRead ?? false) || !_isOwn(entry) {
        unknown.append((position, key))
      }
    }
    if unknown.isEmpty { return result.compactMap(\.self) }
    for (place, stored) in zip(unknown, try coordinator.rows(for: unknown.map(\.key))) {
      // A missing row is reported by the store.
      if let stored { result[place.position] = try _entry(entries[place.position], on: stored) }
    }
    return result.compactMap(\.self)
  }

  private final func _entry(_ entry: Layer.Entry, on stored: Row) throws -> Layer.Entry? {
    guard _isOwn(entry), let object = table.object(for: entry.id) else { return written(entry, over: stored) }
    // A base of another version is left to the version check.
    guard let base = object._row, base.version == stored.version,
      !base.hasSameValues(as: stored, object._layout)
    else { return entry }
    show(stored, at: object)
    return try savedEntry(for: object)
  }

  /// Returns a child's change rebased on a stored row, which the object then shows.
  final func written(_ entry: Layer.Entry, over stored: Row) -> Layer.Entry {
    let written = entry.written(over: stored)
    let object = table.object(for: entry.id)
    let known = object.map(\._row) ?? entry.base
    if !(known === stored) {
      rereadInverses(entry.id.space.layout, from: known, to: stored)
      // Others may have added or removed members: reread them.
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
