import CoreDataModelSchema

// Merging a save of the same process, by values.

extension MergePass {
  /// Merges a save of the same process by value. Rows are adopted as saved, in a child beneath its ancestors'
  /// unsaved changes.
  consuming func merge(_ changes: SavedChanges) {
    begin()
    defer { end() }
    context.advanceGeneration()
    let isForeign = changes.coordinator !== context.persistentStoreCoordinator
    if isForeign { context.persistentStoreCoordinator?.adoptForeign(changes.entries) }
    // Incremental growth would take a third of the time of an insertion, mostly on the main thread.
    let insertions = changes.insertionCount
    if insertions > 16 {
      merged.inserted.reserveCapacity(insertions)
      context.table.reserve(insertions)
    }
    let chain = context._parent == nil ? nil : ReadChain(above: context)
    let isOvertaken = isForeign || _mayBeOvertaken(changes, chain)
    var unknown: [UnknownChange] = []
    let isInOrder = !isForeign && chain == nil && _mergesInOrder(changes)
    if !isForeign {
      context.mergedEpoch = max(context.mergedEpoch, changes.epoch)
    } else if changes.entries.containsUnretained({ $0.kind == .deleted }) {
      noteForeignDeletions()
    }
    // Deletions come last, once the links they cut have been merged.
    for entry in changes.entries where entry.kind != .deleted && entry.kind != .insertedThenDeleted {
      let id = isForeign ? context.registry.localized(entry.id) : entry.id
      let isInsertion = entry.kind == .inserted
      // Not kept in a variable: an object that only the registry holds has been let go.
      let (isKnown, isLoaded) = context.table.object(for: id).map { (true, $0._row != nil) } ?? (false, false)
      // Rows of objects that are neither registered nor observed are not looked up.
      let isSeen = isKnown || isInsertion || !context.events.observers.isEmpty
      let stored = changes.isStored ? entry.row : nil
      let row = isSeen ? chain?.newestRow(for: id, saved: stored) ?? entry.row : entry.row
      // The versions of a loaded object and of a late row tell which one is newer. Other objects, and those of a child,
      // must not show a late row, nor a list one that is gone: a save also reports objects that it has not written.
      let isLate = isOvertaken || entry.isUnwritten
      let isUncertain =
        isLate && isSeen && (isInsertion || chain != nil || !isLoaded) || isSeen && !isKnown && !isInsertion
      switch isUncertain ? _savedState(of: id, row, chain) : .there(row) {
      case .there(let newest) where isInsertion:
        mergeInsertion(of: id, row: newest, changed: entry.changed)
      case .there(let newest): mergeUpdate(of: id, row: newest, changed: entry.changed)
      case .unknown(let key):
        unknown.append(
          UnknownChange(
            id: id, key: key, isInsertion: isInsertion, changed: entry.changed,
            saved: isInsertion && isInOrder ? stored : nil))
      case .gone:
        if isInsertion, let chain { context.revocableDeletions.insert(id) { chain.deletes($0) } }
      }
    }
    for entry in changes.entries where !entry.id.space.layout.recordedToManySlots.isEmpty {
      _rereadOtherEnds(of: entry)
    }
    if !unknown.isEmpty { _mergeUnknown(unknown, through: chain) }
    _mergeDeletions(changes, isForeign: isForeign, through: chain)
    if changes.isStored { context.revocableDeletions.remove(changes.entries) }
    context.links.forgetMembers(Set(merged.deleted.compactMap { context.table.object(for: $0) }))
    finish()
  }

  /// Merges the deletions of a save, except of objects that have been inserted again since.
  private mutating func _mergeDeletions(
    _ changes: SavedChanges, isForeign: Bool, through chain: ReadChain?
  ) {
    // What a parent has not stored it may roll back.
    let cause: DeletionCause = changes.isStored ? .deletedInStore : .merged
    let lastReinsertion = context.persistentStoreCoordinator?.lastReinsertion.load(ordering: .acquiring) ?? 0
    let isOvertaken = isForeign || lastReinsertion >= changes.firstEpoch
    var uncertain: [(id: NSManagedObjectID, key: ObjectKey)] = []
    for entry in changes.entries where entry.kind == .deleted {
      let id = isForeign ? context.registry.localized(entry.id) : entry.id
      if isOvertaken, changes.isStored, let key = id.key, context.table.object(for: id) != nil {
        uncertain.append((id, key))
      } else {
        mergeDeletion(of: id, as: cause)
      }
    }
    if uncertain.isEmpty { return }
    let read = _readableRows(for: uncertain.map(\.key))
    var insertedAgain: Set<NSManagedObject> = []
    for (position, (id, _)) in uncertain.enumerated() {
      let isThere = read.map { $0.rows[position] != nil || $0.damage[position] != nil } ?? false
      if isThere, !(chain?.deletes(id) ?? false) {
        let stored = read?.rows[position]
        mergeUpdate(
          of: id, row: chain?.newestRow(for: id, saved: stored) ?? stored, changed: SlotSet())
        if let object = context.table.object(for: id) { insertedAgain.insert(object) }
      } else {
        mergeDeletion(of: id, as: cause)
      }
    }
    context.links.rereadMembers(linkedTo: insertedAgain)
  }

  /// Whether objects that a save of this stack inserted may have been changed or deleted since.
  private func _mayBeOvertaken(_ changes: SavedChanges, _ chain: ReadChain?) -> Bool {
    if changes.isOvertaken { return true }
    guard let chain else { return false }
    // A parent may roll back changes that it has not stored; ancestors may have deleted stored objects.
    return !changes.isStored || chain.hasDeletions
  }

  /// Whether the context merges all saves in order and this is the newest one. A later deletion of an
  /// inserted object is then merged separately, and both are announced.
  private func _mergesInOrder(_ changes: SavedChanges) -> Bool {
    context.automaticallyMergesChangesFromParent && changes.isStored
      && changes.firstEpoch > max(context.mergedEpoch, context.saving.epoch)
  }

  /// The current state of an object that a merged save changed.
  private enum SavedState {
    /// The object exists, with these values if any are in memory.
    case there(Row?)
    case gone
    /// Not in memory; must be fetched.
    case unknown(ObjectKey)
  }

  /// - Parameters:
  ///   - row: The object's values if nothing has changed or deleted it since.
  ///   - chain: The read chain of a child; nil for a context that reads from the stores.
  private func _savedState(
    of id: NSManagedObjectID, _ row: Row?, _ chain: ReadChain?
  ) -> SavedState {
    let key = IdentityKey(id)
    let cache = context.persistentStoreCoordinator?.rowCache
    guard let chain else {
      guard let stored = id.key else { return .there(row) }
      // Changes may have been merged already, while the object was not registered.
      if let newest = cache?.row(for: stored) { return .there(newest) }
      guard let object = context.table.object(for: id), !object._flags.contains(.deletedInStore) else {
        return .unknown(stored)
      }
      // What a loaded object shows may be older than the saved row, and its version tells.
      return .there(object._row == nil ? nil : row)
    }
    let entry = chain.entry(for: key)
    let isKnown = context.table.object(for: id) != nil
    if !isKnown, let entry, entry.row == nil { return .gone }
    guard let stored = id.key else { return isKnown || entry != nil ? .there(row) : .gone }
    return cache?.row(for: stored) == nil ? .unknown(stored) : .there(row)
  }

  /// The change of an object whose current row is not in memory.
  private struct UnknownChange {
    let id: NSManagedObjectID
    let key: ObjectKey
    let isInsertion: Bool
    let changed: SlotSet
    /// The saved row, if the context reports an insertion even though the object has been deleted since.
    let saved: Row?
  }

  /// Merges changes of objects that are not in memory, read in one batch.
  private mutating func _mergeUnknown(
    _ unknown: [UnknownChange], through chain: ReadChain?
  ) {
    let read = _readableRows(for: unknown.map(\.key))
    for (position, change) in unknown.enumerated() {
      let stored = read?.rows[position]
      let row = chain?.newestRow(for: change.id, saved: stored) ?? stored ?? change.saved
      if row == nil, let read, read.damage[position] == nil { continue }
      if change.isInsertion {
        mergeInsertion(of: change.id, row: row, changed: change.changed)
      } else {
        mergeUpdate(of: change.id, row: row, changed: change.changed)
      }
    }
  }

  /// Returns rows and which of them are damaged; nil if the store cannot be read. A merge cannot throw: the
  /// objects become faults, and firing them reads again and reports why it cannot.
  private func _readableRows(for keys: [ObjectKey]) -> (rows: [Row?], damage: [Int: any Error])? {
    do {
      return try context.persistentStoreCoordinator?.readableRows(for: keys)
    } catch {
      return nil
    }
  }

  /// Invalidates the other ends of the pairs that a save has changed. A merge policy may have dropped the save's
  /// own change of the other end.
  private func _rereadOtherEnds(of entry: ChangeLayer.Entry) {
    guard let row = entry.row else { return }
    let slots = entry.id.space.layout.slots
    for slot in entry.id.space.layout.recordedToManySlots where entry.changed.contains(slot) {
      guard case .toMany(let delta) = row[slot], let relationship = slots[slot].relationship,
        relationship.isManyToMany, let inverse = relationship.inverseSlot
      else { continue }
      func reread(_ id: NSManagedObjectID) {
        context.table.object(for: context.registry.localized(id))?._relations?.members(inverse)?.unrealise()
      }
      delta.added.forEachUnretained(reread)
      delta.removed.forEachUnretained(reread)
    }
  }
}
