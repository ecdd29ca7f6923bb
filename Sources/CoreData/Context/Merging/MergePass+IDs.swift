import CoreDataModelSchema

// Merging changes that are known by ID only: of batch requests, of history, of other processes.

extension MergePass {
  /// Merges changes of another process or coordinator, whose rows the cache may have in an older version.
  consuming func mergeForeign(_ ids: MergedIDs) {
    context.persistentStoreCoordinator?.rowCache.forget(
      ids.changed.compactMap(\.key).map(context.registry.localized))
    merge(ids)
  }

  /// Merges changes by ID. The rows of loaded and of inserted objects are read in one batch; an object whose
  /// row is gone meanwhile is merged as deleted, whatever the changes call it.
  consuming func merge(_ ids: MergedIDs) {
    begin()
    defer { end() }
    context.advanceGeneration()
    let inserted = ids.inserted.map(context.registry.localized)
    // Faults are not read for an update: they show the current row when they fire. A shared draft is rebased
    // on it now.
    let updated = ids.updated.map(context.registry.localized).map { id in
      let object = context.table.object(for: id)
      return (id: id, object: object, isRead: object.map { !$0.isFault || $0._draft != nil } ?? false)
    }
    let deleted = ids.deleted.map(context.registry.localized)
    let rows = CurrentRows(
      of: inserted + updated.lazy.filter(\.isRead).map(\.id)
        + deleted.filter { context.table.object(for: $0) != nil },
      readBy: context)
    var isAnyGone = !deleted.isEmpty
    for id in inserted {
      switch rows.state(of: id) {
      case .there(let row): mergeInsertion(of: id, row: row, changed: SlotSet())
      case .unread: mergeInsertion(of: id, row: nil, changed: SlotSet())
      case .gone:
        isAnyGone = true
        mergeDeletion(of: id, as: .deletedInStore)
      }
    }
    for (id, object, isRead) in updated {
      guard isRead else {
        if let object { context.links.attachRowToFault(nil, at: object) }
        context.observers.noteUnseenMerge(id, nil)
        continue
      }
      switch rows.state(of: id) {
      case .there(let row) where object?._flags.contains(.deletedElsewhere) ?? false:
        mergeInsertion(of: id, row: row, changed: SlotSet())
      case .there(let row): mergeUpdate(of: id, row: row, changed: SlotSet())
      case .unread: mergeUpdate(of: id, row: nil, changed: SlotSet())
      case .gone:
        isAnyGone = true
        _mergeDisappearance(of: id)
      }
    }
    for id in deleted {
      // The caller may be wrong: then the next save deletes the row.
      if case .gone = rows.state(of: id) {
        mergeDeletion(of: id, as: .deletedInStore)
      } else {
        mergeDeletion(of: id, as: .merged)
      }
    }
    if isAnyGone { noteForeignDeletions() }
    context.links.forgetMembers(Set(merged.deleted.compactMap { context.table.object(for: $0) }))
    finish()
  }

  /// Merges an update of a row that is gone. An object with unsaved changes keeps them: the merge policy
  /// decides when it is saved.
  private mutating func _mergeDisappearance(of id: NSManagedObjectID) {
    if context.table.object(for: id)?.isDirty ?? false { return }
    mergeDeletion(of: id, as: .deletedInStore)
  }
}

/// The rows of some objects as a context reads them now.
private struct CurrentRows {
  private let _chain: ReadChain
  private var _stored: [IdentityKey: Row] = [:]
  private var _unread = IdentitySet()

  enum State {
    case there(Row)
    case gone
    /// The row could not be read. Firing the fault reads again, and reports why it cannot.
    case unread
  }

  init(of ids: [NSManagedObjectID], readBy context: NSManagedObjectContext) {
    _chain = ReadChain(above: context)
    let keys = ids.compactMap(\.key)
    guard !keys.isEmpty, let coordinator = _chain.coordinator else { return }
    do {
      let read = try coordinator.readableRows(for: keys, at: _chain.generation)
      for (key, row) in zip(keys, read.rows) { _stored[IdentityKey(key)] = row }
      for index in read.damage.keys { _ = _unread.insert(keys[index]) }
    } catch {
      for key in keys { _ = _unread.insert(key) }
    }
  }

  func state(of id: NSManagedObjectID) -> State {
    let key = IdentityKey(id)
    if let entry = _chain.entry(for: key), entry.row == nil { return .gone }
    if let stored = id.key, _unread.contains(stored) { return .unread }
    return _chain.newestRow(for: id, saved: _stored[key]).map(State.there) ?? .gone
  }
}
