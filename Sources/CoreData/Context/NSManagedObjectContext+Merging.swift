import CoreDataModelSchema
import Foundation

// Merging the saves of other contexts.

extension NSManagedObjectContext {
  final func mergeSave(_ notification: Notification) {
    queue.sync {
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
    if isForeign, let coordinator = persistentStoreCoordinator {
      coordinator.adopt(changes.entries)
    }
    var merged = MergedSets()
    // Incremental growth would take a third of the time of an insertion, mostly on the main thread.
    let insertions = changes.insertionCount
    if insertions > 16 {
      merged.inserted.reserveCapacity(insertions)
      table.reserve(insertions)
    }
    let chain = _parent == nil ? nil : ReadChain(above: self)
    let isOvertaken = isForeign || _mayBeOvertaken(changes, chain)
    var unknown: [UnknownRow] = []
    let isInOrder = !isForeign && chain == nil && _mergesInOrder(changes)
    if !isForeign { mergedEpoch = max(mergedEpoch, changes.epoch) }
    // Deletions come last, once the links they cut have been merged.
    for entry in changes.entries where entry.kind != .deleted {
      let id = isForeign ? localized(entry.id) : entry.id
      // Rows of objects that are neither registered nor observed are not looked up.
      let isRegistered = table.object(for: id) != nil
      let isSeen = isRegistered || entry.kind == .inserted || !events.observers.isEmpty
      let stored = changes.isStored ? entry.row : nil
      let row = isSeen ? chain?.newestRow(for: id, saved: stored) ?? entry.row : entry.row
      switch entry.kind {
      case .inserted:
        switch isOvertaken ? _standing(of: id, row, chain) : .there(row) {
        case .there(let newest):
          mergeInsertion(of: id, row: newest, changed: entry.changed, into: &merged)
        case .unknown(let key):
          unknown.append(
            UnknownRow(kind: .inserted, key: key, changed: entry.changed, saved: isInOrder ? stored : nil))
        case .gone: break
        }
      case .updated:
        // This context may have deleted the row since, and an observer would show it again.
        let mayBeGone = isOvertaken && !isInOrder && isSeen && !isRegistered
        switch mayBeGone ? _standing(of: id, row, chain) : .there(row) {
        case .there(let newest): mergeUpdate(of: id, row: newest, changed: entry.changed, into: &merged)
        case .unknown(let key):
          unknown.append(UnknownRow(kind: .updated, key: key, changed: entry.changed, saved: nil))
        case .gone: break
        }
      case .deleted, .annihilated: break
      }
    }
    if !unknown.isEmpty { _merge(unknown, into: &merged) }
    for entry in changes.entries where entry.kind == .deleted {
      mergeDeletion(of: isForeign ? localized(entry.id) : entry.id, isGone: changes.isStored, into: &merged)
    }
    forgetMembers(Set(merged.deleted.compactMap { table.object(for: $0) }))
    finishMerge(merged)
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

  /// The current state of an object that a merged save inserted or updated.
  private enum Standing {
    /// The object exists, with these values if any are in memory.
    case there(Row?)
    case gone
    /// Not in memory; must be fetched.
    case unknown(ObjectKey)
  }

  /// - Parameters:
  ///   - row: The object's values if nothing has changed or deleted it since.
  ///   - chain: The read chain of a child; nil for a context that reads from the stores.
  private final func _standing(
    of id: NSManagedObjectID, _ row: Row?, _ chain: ReadChain?
  ) -> Standing {
    let key = IdentityKey(id)
    let cache = persistentStoreCoordinator?.rowCache
    guard let chain else {
      guard let stored = id.key else { return .there(row) }
      // Changes may have been merged already, while the object was not registered.
      if let newest = cache?.row(for: stored) { return .there(newest) }
      return table.object(for: id) == nil ? .unknown(stored) : .there(nil)
    }
    if table.object(for: id) != nil { return .there(row) }
    if let found = chain.entry(for: key) { return found.row == nil ? .gone : .there(row) }
    guard let stored = id.key else { return .gone }
    return cache?.row(for: stored) == nil ? .unknown(stored) : .there(row)
  }

  /// A merged insertion or update whose current row is not in memory.
  private struct UnknownRow {
    let kind: Layer.Kind
    let key: ObjectKey
    let changed: SlotSet
    /// The saved row, if the context reports the insertion even though the object has been deleted since.
    let saved: Row?
  }

  /// Merges insertions and updates whose rows are not in memory, read in one batch.
  private final func _merge(_ unknown: [UnknownRow], into merged: inout MergedSets) {
    let read: (rows: [Row?], damage: [Int: any Error])?
    do {
      read = try persistentStoreCoordinator?.readableRows(for: unknown.map(\.key))
    } catch {
      // A merge cannot throw. The objects become faults; firing them reads again, and reports why it cannot.
      read = nil
    }
    for (position, change) in unknown.enumerated() {
      let row = read?.rows[position] ?? change.saved
      if row == nil, let read, read.damage[position] == nil { continue }
      let id = NSManagedObjectID(change.key)
      if change.kind == .inserted {
        mergeInsertion(of: id, row: row, changed: change.changed, into: &merged)
      } else {
        mergeUpdate(of: id, row: row, changed: change.changed, into: &merged)
      }
    }
  }

  // MARK: One object

  /// - Parameter changed: The slots that the save changed; empty if only IDs are known.
  final func mergeInsertion(
    of id: NSManagedObjectID, row: Row?, changed: SlotSet, into merged: inout MergedSets
  ) {
    if let object = table.object(for: id) {
      if object.isFault {
        if let row { _showUnseenNews(row, at: object) }
      } else if let row, object._row != nil, _isNews(row, for: object) {
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
      if object._flags.isDisjoint(with: [.inserted, .toldInserted]) {
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
        if let row { _showUnseenNews(row, at: object) } else { showUnseen(nil, at: object) }
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
    if _isNews(row, for: object) {
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
  private final func _isNews(_ row: Row, for object: NSManagedObject) -> Bool {
    guard let mine = object._row else { return true }
    return isNews(row, over: mine, object._layout)
  }

  /// Adopts a parent's row with equal values. Its to-manys may still have changed, and changed back before
  /// the parent saved, which the save does not report.
  private final func _adoptEqual(_ row: Row, at object: NSManagedObject) {
    guard _parent != nil, let mine = object._row, !(mine === row) else { return }
    object.advanceVersion(to: row)
    object._relations?.dropClean()
  }

  private final func _showUnseenNews(_ row: Row, at object: NSManagedObject) {
    if _isNews(row, for: object) { showUnseen(row, at: object) } else { object.advanceVersion(to: row) }
  }

  /// Whether a row is newer than the object's own. A child's rows are composed from its ancestors for each
  /// read, so they are compared by value.
  final func isNews(_ row: Row, over mine: Row, _ layout: PropertyLayout) -> Bool {
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

  /// - Parameter isGone: Whether the row is known to be gone, so that this context's next save need not delete it.
  final func mergeDeletion(of id: NSManagedObjectID, isGone: Bool, into merged: inout MergedSets) {
    guard let object = heldObject(for: id) else { return }
    merged.deleted.insert(object._objectID)
    guard !object._flags.contains(.deleted) else { return }
    if recordsLosses, object.isDirty {
      Console.warnOnce(
        about: "lost \(object._layout.entityName)",
        "another context has deleted a changed \(object._layout.entityName); the unsaved changes go with it.")
    }
    object.prepareForDeletion()
    // The other context has applied the delete rules.
    markDeleted(object, as: isGone ? .vanished : .settled)
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
