import CoreDataModelSchema

// Rebasing changes made on other rows on the stored ones.

extension CommitPass {
  /// Returns the entries of a root context's save, rebased on stored rows.
  ///
  /// Changes from children are rebased on the current stored rows: this context has not read any that could
  /// conflict. Own objects are checked for conflicts, so their base must be a stored row; a base that came
  /// from a child and includes unsaved changes discarded since is replaced.
  ///
  /// Reads nothing if no child has attached, if the row cache has the rows, or, until the save meets a conflict, if the
  /// child's base is a row as a store returned it: the store checks its version, and a conflict rebases the change on
  /// the row that the store has by then.
  ///
  /// - Throws: Errors of reading the rows.
  func onStoredRows(_ entries: [ChangeLayer.Entry]) throws -> [ChangeLayer.Entry] {
    guard context.overlay.hasReaders, let coordinator = context.persistentStoreCoordinator else {
      return entries
    }
    var result = entries
    // Positions of changes that turn out to restore the stored values.
    var restoring: [Int] = []
    func rebase(_ position: Int, on stored: Row) throws {
      if let entry = try _entry(entries[position], on: stored) {
        result[position] = entry
      } else {
        restoring.append(position)
      }
    }
    var unknown: [(position: Int, key: ObjectKey)] = []
    for position in entries.indices where entries[position].kind == .updated {
      let entry = entries[position]
      guard let key = entry.id.key else { continue }
      if let row = coordinator.rowCache.row(for: key) {
        try rebase(position, on: row)
        continue
      }
      let base = entry.base.flatMap { $0.isAsRead ? $0 : nil }
      if base != nil, _isOwn(entry) { continue }
      if let base, !context.saving.hasResolved {
        try rebase(position, on: base)
      } else {
        unknown.append((position, key))
      }
    }
    if !unknown.isEmpty {
      for (place, stored) in zip(unknown, try coordinator.rows(for: unknown.map(\.key))) {
        // A missing row is reported by the store.
        if let stored { try rebase(place.position, on: stored) }
      }
    }
    if restoring.isEmpty { return result }
    let dropped = Set(restoring)
    return result.indices.compactMap { dropped.contains($0) ? nil : result[$0] }
  }

  private func _entry(_ entry: ChangeLayer.Entry, on stored: Row) throws -> ChangeLayer.Entry? {
    guard _isOwn(entry), let object = context.table.object(for: entry.id) else {
      return written(entry, over: stored)
    }
    // A base of another version is left to the version check.
    guard let base = object._row, base.version == stored.version,
      !base.hasSameValues(as: stored, object._layout)
    else { return entry }
    context.links.show(stored, at: object)
    context.recordNews(of: object)
    return try CollectPass(context).entry(for: object)
  }

  /// Returns a child's change rebased on a stored row, which the object then shows.
  func written(_ entry: ChangeLayer.Entry, over stored: Row) -> ChangeLayer.Entry {
    let written = entry.written(over: stored)
    let object = context.table.object(for: entry.id)
    let known = object.map(\._row) ?? entry.base
    if !(known === stored) {
      context.links.rereadInverses(entry.id.space.layout, from: known, to: stored)
      // Others may have added or removed members: reread them.
      object?._relations?.dropClean()
    }
    if let object {
      if let known, !(known === stored), !known.hasSameValues(as: stored, object._layout) {
        context.recordNews(of: object)
      }
      object.share(written.row, over: stored)
    }
    return written
  }

  /// Returns the entries of a save whose store has applied some updates to newer rows, rebased on these; the objects
  /// show them.
  func mergeOvertaken(
    _ overtaken: [VersionConflict], into entries: [ChangeLayer.Entry]
  ) -> [ChangeLayer.Entry] {
    context.undoRecorder?.suspensions += 1
    defer { context.undoRecorder?.suspensions -= 1 }
    var newer: [IdentityKey: Row] = [:]
    for conflict in overtaken { newer[IdentityKey(conflict.id)] = conflict.persisted }
    return entries.map { entry in
      guard let row = newer[IdentityKey(entry.id)] else { return entry }
      guard _isOwn(entry), let object = context.table.object(for: entry.id) else {
        return written(entry, over: row)
      }
      // Others may have added or removed members: reread them.
      object._relations?.dropClean()
      context.links.show(row, at: object)
      context.recordNews(of: object)
      return ChangeLayer.Entry(
        kind: .updated, id: entry.id, base: row, row: object.handOutDraft(toStore: true),
        changed: entry.changed, isWhole: entry.isWhole)
    }
  }

  private func _isOwn(_ entry: ChangeLayer.Entry) -> Bool {
    context.table.object(for: entry.id)?._flags.contains(.listed) ?? false
  }
}
