import CoreDataModelSchema
import Foundation

// Merging the saves of other contexts.

extension NSManagedObjectContext {
  final func mergeSave(_ notification: Notification) {
    queue.sync {
      let begin = TraceRecorder.current == nil ? 0 : TraceRecorder.now
      defer { recordMerge(of: notification, since: begin) }
      if let changes = notification.userInfo?[SavedChanges.key] as? SavedChanges {
        merge(changes)
      } else {
        let ids = MergedIDs(notification.userInfo ?? [:], resolving: persistentStoreCoordinator)
        // Another process wrote these rows; their cached versions are stale.
        persistentStoreCoordinator?.rowCache.forget(ids.changed.compactMap(\.key).map(localized))
        merge(ids)
      }
    }
  }

  /// Merges object IDs, as found in batch results and history, into several contexts, parents first.
  ///
  /// ```swift
  /// let ids = [bookID]
  /// NSManagedObjectContext.mergeChanges(
  ///   fromRemoteContextSave: [NSUpdatedObjectsKey: ids], into: [context, background])
  /// ```
  ///
  /// - Parameter changeNotificationData: Arrays or sets of `NSManagedObjectID` or of URI URLs under the
  ///   inserted, updated and deleted keys.
  public class func mergeChanges(
    fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
  ) {
    func depth(_ context: NSManagedObjectContext) -> Int { context.parent.map { depth($0) + 1 } ?? 0 }
    for context in contexts.sorted(by: { depth($0) < depth($1) }) {
      let ids = MergedIDs(changeNotificationData, resolving: context.persistentStoreCoordinator)
      context.queue.sync {
        context.persistentStoreCoordinator?.rowCache.forget(
          ids.changed.compactMap(\.key).map(context.localized))
        context.merge(ids)
      }
    }
  }

  // MARK: By values

  /// Merges a save of the same process by value. Rows are adopted as saved, in a child beneath its ancestors'
  /// unsaved changes.
  final func merge(_ changes: SavedChanges) {
    beginMerge()
    defer { endMerge() }
    advanceGeneration()
    let isForeign = changes.coordinator !== persistentStoreCoordinator
    if isForeign { persistentStoreCoordinator?.adoptForeign(changes.entries) }
    var merged = MergedSets()
    // Incremental growth would take a third of the time of an insertion, mostly on the main thread.
    let insertions = changes.insertionCount
    if insertions > 16 {
      merged.inserted.reserveCapacity(insertions)
      table.reserve(insertions)
    }
    let chain = _parent == nil ? nil : ReadChain(above: self)
    let isOvertaken = isForeign || _mayBeOvertaken(changes, chain)
    var unknown: [UnknownChange] = []
    let isInOrder = !isForeign && chain == nil && _mergesInOrder(changes)
    if !isForeign {
      mergedEpoch = max(mergedEpoch, changes.epoch)
    } else if changes.entries.containsUnretained({ $0.kind == .deleted }) {
      noteForeignDeletions()
    }
    // Deletions come last, once the links they cut have been merged.
    for entry in changes.entries where entry.kind != .deleted && entry.kind != .insertedThenDeleted {
      let id = isForeign ? localized(entry.id) : entry.id
      let isInsertion = entry.kind == .inserted
      // Not kept in a variable: an object that only the registry holds has been let go.
      let (isKnown, isLoaded) = table.object(for: id).map { (true, $0._row != nil) } ?? (false, false)
      // Rows of objects that are neither registered nor observed are not looked up.
      let isSeen = isKnown || isInsertion || !events.observers.isEmpty
      let stored = changes.isStored ? entry.row : nil
      let row = isSeen ? chain?.newestRow(for: id, saved: stored) ?? entry.row : entry.row
      // The versions of a loaded object and of a late row tell which one is newer. Other objects must not
      // show a late row, nor a list one that is gone: a save also reports objects that it has not written.
      let isUncertain =
        isOvertaken && isSeen && (isInsertion || chain != nil || !isLoaded)
        || isSeen && !isKnown && !isInsertion
      switch isUncertain ? _savedState(of: id, row, chain) : .there(row) {
      case .there(let newest) where isInsertion:
        mergeInsertion(of: id, row: newest, changed: entry.changed, into: &merged)
      case .there(let newest): mergeUpdate(of: id, row: newest, changed: entry.changed, into: &merged)
      case .unknown(let key):
        unknown.append(
          UnknownChange(
            id: id, key: key, isInsertion: isInsertion, changed: entry.changed,
            saved: isInsertion && isInOrder ? stored : nil))
      case .gone:
        if isInsertion, let chain { revocableDeletions.insert(id) { chain.deletes($0) } }
      }
    }
    for entry in changes.entries where !entry.id.space.layout.recordedToManySlots.isEmpty {
      _rereadOtherEnds(of: entry)
    }
    if !unknown.isEmpty { _mergeUnknown(unknown, through: chain, into: &merged) }
    _mergeDeletions(changes, isForeign: isForeign, through: chain, into: &merged)
    if changes.isStored { revocableDeletions.remove(changes.entries) }
    forgetMembers(Set(merged.deleted.compactMap { table.object(for: $0) }))
    finishMerge(merged)
  }

  /// Merges the deletions of a save, except of objects that have been inserted again since.
  private final func _mergeDeletions(
    _ changes: SavedChanges, isForeign: Bool, through chain: ReadChain?, into merged: inout MergedSets
  ) {
    // What a parent has not stored it may roll back.
    let cause: DeletionCause = changes.isStored ? .deletedInStore : .merged
    let lastReinsertion = persistentStoreCoordinator?.lastReinsertion.load(ordering: .acquiring) ?? 0
    let isOvertaken = isForeign || lastReinsertion >= changes.firstEpoch
    var uncertain: [(id: NSManagedObjectID, key: ObjectKey)] = []
    for entry in changes.entries where entry.kind == .deleted {
      let id = isForeign ? localized(entry.id) : entry.id
      if isOvertaken, changes.isStored, let key = id.key, table.object(for: id) != nil {
        uncertain.append((id, key))
      } else {
        mergeDeletion(of: id, as: cause, into: &merged)
      }
    }
    if uncertain.isEmpty { return }
    let read = _readableRows(for: uncertain.map(\.key))
    for (position, (id, _)) in uncertain.enumerated() {
      let isThere = read.map { $0.rows[position] != nil || $0.damage[position] != nil } ?? false
      if isThere, !(chain?.deletes(id) ?? false) {
        let stored = read?.rows[position]
        mergeUpdate(
          of: id, row: chain?.newestRow(for: id, saved: stored) ?? stored, changed: SlotSet(), into: &merged)
      } else {
        mergeDeletion(of: id, as: cause, into: &merged)
      }
    }
  }

  /// Whether objects that a save of this stack inserted may have been changed or deleted since.
  private final func _mayBeOvertaken(_ changes: SavedChanges, _ chain: ReadChain?) -> Bool {
    if changes.isOvertaken { return true }
    guard let chain else { return false }
    // A parent may roll back changes that it has not stored; ancestors may have deleted stored objects.
    return !changes.isStored || chain.hasDeletions
  }

  /// Whether the context merges all saves in order and this is the newest one. A later deletion of an
  /// inserted object is then merged separately, and both are announced.
  private final func _mergesInOrder(_ changes: SavedChanges) -> Bool {
    automaticallyMergesChangesFromParent && changes.isStored
      && changes.firstEpoch > max(mergedEpoch, savePass.epoch)
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
  private final func _savedState(
    of id: NSManagedObjectID, _ row: Row?, _ chain: ReadChain?
  ) -> SavedState {
    let key = IdentityKey(id)
    let cache = persistentStoreCoordinator?.rowCache
    guard let chain else {
      guard let stored = id.key else { return .there(row) }
      // Changes may have been merged already, while the object was not registered.
      if let newest = cache?.row(for: stored) { return .there(newest) }
      guard let object = table.object(for: id), !object._flags.contains(.deletedInStore) else {
        return .unknown(stored)
      }
      // What a loaded object shows may be older than the saved row, and its version tells.
      return .there(object._row == nil ? nil : row)
    }
    let entry = chain.entry(for: key)
    let isKnown = table.object(for: id) != nil
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
  private final func _mergeUnknown(
    _ unknown: [UnknownChange], through chain: ReadChain?, into merged: inout MergedSets
  ) {
    let read = _readableRows(for: unknown.map(\.key))
    for (position, change) in unknown.enumerated() {
      let stored = read?.rows[position]
      let row = chain?.newestRow(for: change.id, saved: stored) ?? stored ?? change.saved
      if row == nil, let read, read.damage[position] == nil { continue }
      if change.isInsertion {
        mergeInsertion(of: change.id, row: row, changed: change.changed, into: &merged)
      } else {
        mergeUpdate(of: change.id, row: row, changed: change.changed, into: &merged)
      }
    }
  }

  /// Returns rows and which of them are damaged; nil if the store cannot be read. A merge cannot throw: the
  /// objects become faults, and firing them reads again and reports why it cannot.
  private final func _readableRows(for keys: [ObjectKey]) -> (rows: [Row?], damage: [Int: any Error])? {
    do {
      return try persistentStoreCoordinator?.readableRows(for: keys)
    } catch {
      return nil
    }
  }

  // MARK: One object

  /// - Parameter changed: The slots that the save changed; empty if only IDs are known.
  final func mergeInsertion(
    of id: NSManagedObjectID, row: Row?, changed: SlotSet, into merged: inout MergedSets
  ) {
    if let object = table.object(for: id) {
      if object._flags.contains(.deletedElsewhere) {
        revive(object, row: row)
        merged.inserted.insert(object._objectID)
        return
      }
      if object._flags.isSuperset(of: [.deleted, .deletedInStore]) { object._state.recordFoundRow() }
      if object.isFault {
        if let row { _attachNewerRow(row, at: object) }
      } else if let row, object._row != nil, _supersedes(row, for: object) {
        // The child has read its parent's unsaved object, which changed again before the parent saved.
        show(row, at: object)
        object.awake(fromSnapshotEvents: .refresh)
        recordEvent(object, .eventRefreshed)
      } else {
        if let row { _adoptEqual(row, at: object) }
        _rereadMembers(of: object, changed)
      }
      // Deleted here meanwhile: the next save deletes the row.
      if object._flags.contains(.deleted) { return }
      // Insertions made in this context, or merged before, have been announced.
      if object._flags.isDisjoint(with: [.inserted, .insertionAnnounced]) {
        recordEvent(object, .eventMergedInsert)
      }
      merged.inserted.insert(object._objectID)
      return
    }
    let object: NSManagedObject
    if overlay.hasReaders, let entry = overlay.layers.entry(for: IdentityKey(id)) {
      // A child has already read the object and saved a change of it into this context.
      object = materialize(entry)
      if object._flags.contains(.deleted) { return }
    } else {
      object = make(id.canonical, row: row)
      if let row { rereadInverses(object._layout, from: nil, to: row) } else { faultBatch.add(object) }
    }
    recordEvent(object, .eventMergedInsert)
    merged.inserted.insert(object._objectID)
  }

  final func mergeUpdate(
    of id: NSManagedObjectID, row: Row?, changed: SlotSet, into merged: inout MergedSets
  ) {
    guard let object = heldObject(for: id) else {
      recordUnseenMerge(id, row)
      return
    }
    guard !object.isFault else {
      // Not loaded yet: it shows the newer values once it is loaded.
      if object._row != nil {
        if let row { _attachNewerRow(row, at: object) } else { attachRowToFault(nil, at: object) }
      }
      recordUnseenMerge(id, row)
      return
    }
    guard let row else {
      if !object.isDirty { object.turnIntoFault() }
      return
    }
    if object._flags.contains(.observed), !changed.isEmpty {
      events.mergedSlots[ObjectIdentifier(object), default: SlotSet()].formUnion(changed)
    }
    if _supersedes(row, for: object) {
      show(row, at: object)
    } else {
      _adoptEqual(row, at: object)
      _rereadMembers(of: object, changed)
    }
    if object._shape.hasOwnClass { object.awake(fromSnapshotEvents: .refresh) }
    recordEvent(object, .eventRefreshed)
    merged.refreshed.insert(object._objectID)
    merged.updated.insert(object._objectID)
  }

  /// Whether a row saved elsewhere is no older than the object's own.
  ///
  /// A late notification may be older than what this context has written or read since. Versions do not order
  /// rows between parent and child, but there the row holds the parents' current state.
  private final func _supersedes(_ row: Row, for object: NSManagedObject) -> Bool {
    guard let mine = object._row else { return true }
    return supersedes(row, over: mine, object._layout)
  }

  /// Adopts a parent's row with equal values. Its to-manys may still have changed, and changed back before
  /// the parent saved, which the save does not report.
  private final func _adoptEqual(_ row: Row, at object: NSManagedObject) {
    guard _parent != nil, let mine = object._row, !(mine === row) else { return }
    object.advanceVersion(to: row)
    object._relations?.dropClean()
  }

  private final func _attachNewerRow(_ row: Row, at object: NSManagedObject) {
    if _supersedes(row, for: object) {
      attachRowToFault(row, at: object)
    } else {
      object.advanceVersion(to: row)
    }
  }

  /// Whether a row is newer than the object's own. A child's rows are composed from its ancestors for each
  /// read, so they are compared by value.
  final func supersedes(_ row: Row, over mine: Row, _ layout: PropertyLayout) -> Bool {
    if mine === row { return false }
    return _parent == nil ? row.version >= mine.version : !row.hasSameValues(as: mine, layout)
  }

  /// Invalidates the to-manys that a save has changed, even if the values are equal: a child may have saved
  /// its own stale members, to which a sibling's additions were applied before they reached the stores.
  private final func _rereadMembers(of object: NSManagedObject, _ changed: SlotSet) {
    guard _parent != nil else { return }
    object._relations?.forEachToMany { slot, state in
      if changed.contains(slot) { state.unrealise() }
    }
  }

  /// Invalidates the other ends of the pairs that a save has changed. A merge policy may have dropped the save's
  /// own change of the other end.
  private final func _rereadOtherEnds(of entry: ChangeLayer.Entry) {
    guard let row = entry.row else { return }
    let slots = entry.id.space.layout.slots
    for slot in entry.id.space.layout.recordedToManySlots where entry.changed.contains(slot) {
      guard case .toMany(let delta) = row[slot], let relationship = slots[slot].relationship,
        relationship.isManyToMany, let inverse = relationship.inverseSlot
      else { continue }
      func reread(_ id: NSManagedObjectID) {
        table.object(for: localized(id))?._relations?.members(inverse)?.unrealise()
      }
      delta.added.forEachUnretained(reread)
      delta.removed.forEachUnretained(reread)
    }
  }

  /// - Parameter cause: `.deletedInStore` if the row is known to be gone, else `.merged`.
  final func mergeDeletion(
    of id: NSManagedObjectID, as cause: DeletionCause, into merged: inout MergedSets
  ) {
    guard let object = heldObject(for: id) else { return }
    merged.deleted.insert(object._objectID)
    guard !object._flags.contains(.deleted) else {
      if case .deletedInStore = cause { object._state.recordMissingRow() }
      return
    }
    if recordsLosses, object.isDirty {
      Console.warnOnce(
        about: "lost \(object._layout.entityName)",
        "another context has deleted a changed \(object._layout.entityName); the unsaved changes go with it.")
    }
    object.prepareForDeletion()
    markDeleted(object, as: cause)
    cutReferences(to: object)
  }

  final func finishMerge(_ merged: MergedSets) {
    processPendingChanges()
    letGoOfVanished()
    sweepIfDue()
    var userInfo: [AnyHashable: Any] = [:]
    if !merged.inserted.isEmpty { userInfo[NSInsertedObjectIDsKey] = merged.inserted }
    if !merged.updated.isEmpty { userInfo[NSUpdatedObjectIDsKey] = merged.updated }
    if !merged.deleted.isEmpty { userInfo[NSDeletedObjectIDsKey] = merged.deleted }
    if !merged.refreshed.isEmpty { userInfo[NSRefreshedObjectIDsKey] = merged.refreshed }
    NotificationCenter.default.post(
      name: .NSManagedObjectContextDidMergeChangesObjectIDs, object: self, userInfo: userInfo)
  }
}

/// IDs that a merge changed in this context.
struct MergedSets {
  var inserted = Set<NSManagedObjectID>()
  var updated = Set<NSManagedObjectID>()
  var deleted = Set<NSManagedObjectID>()
  var refreshed = Set<NSManagedObjectID>()
}
