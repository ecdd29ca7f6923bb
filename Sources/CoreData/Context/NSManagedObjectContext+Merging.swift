import CoreDataModelSchema
import Foundation

// Taking over what other contexts have saved.

extension NSManagedObjectContext {
  final func mergeSave(_ notification: Notification) {
    queue.sync {
      if let changes = notification.userInfo?[SavedChanges.key] as? SavedChanges {
        merge(changes)
      } else {
        let ids = MergedIDs(notification.userInfo ?? [:], resolving: persistentStoreCoordinator)
        // Written elsewhere: what is cached of these rows is old.
        persistentStoreCoordinator?.rowCache.forget(ids.changed.compactMap(\.key).map(localized))
        merge(ids)
      }
    }
  }

  /// Merges object IDs, as batch requests and history give them, into several contexts, parents first.
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

  /// Merges a save of the same process: its rows are taken over as they are, by a child under what its
  /// parents have unsaved.
  final func merge(_ changes: SavedChanges) {
    beginMerge()
    defer { endMerge() }
    advanceGeneration()
    let isForeign = changes.coordinator !== persistentStoreCoordinator
    if isForeign, let coordinator = persistentStoreCoordinator {
      coordinator.adopt(changes.entries)
    }
    var merged = MergedSets()
    // Growing step by step would take a third of the time that an insertion takes here, mostly on the main
    // thread.
    let insertions = changes.insertionCount
    if insertions > 16 {
      merged.inserted.reserveCapacity(insertions)
      table.reserve(insertions)
    }
    let chain = _parent == nil ? nil : ReadChain(above: self)
    let isOvertaken = isForeign || mayBeOvertaken(changes, chain)
    var unknown: [UnknownInsertion] = []
    let isInOrder = !isForeign && chain == nil && mergesInOrder(changes)
    if !isForeign { mergedEpoch = max(mergedEpoch, changes.epoch) }
    // What was deleted comes last: links cut by the deletion have been merged then.
    for entry in changes.entries where entry.kind != .deleted {
      let id = isForeign ? localized(entry.id) : entry.id
      // No row is looked up for an object that is neither registered nor observed.
      let isSeen = table.object(for: id) != nil || entry.kind == .inserted || !events.observers.isEmpty
      let stored = changes.isStored ? entry.row : nil
      let row = isSeen ? chain?.newestRow(for: id, saved: stored) ?? entry.row : entry.row
      switch entry.kind {
      case .inserted:
        switch isOvertaken ? standing(of: id, row, chain) : .there(row) {
        case .there(let newest):
          mergeInsertion(of: id, row: newest, changed: entry.changed, into: &merged)
          if let row { followPendingDeletions(id, row) }
        case .unknown(let key):
          unknown.append(UnknownInsertion(key: key, changed: entry.changed, saved: isInOrder ? stored : nil))
        case .gone: break
        }
      case .updated:
        mergeUpdate(of: id, row: row, changed: entry.changed, into: &merged)
        if let row { followPendingDeletions(id, row) }
      case .deleted, .annihilated: break
      }
    }
    if !unknown.isEmpty { mergeInsertions(unknown, into: &merged) }
    for entry in changes.entries where entry.kind == .deleted {
      mergeDeletion(of: isForeign ? localized(entry.id) : entry.id, into: &merged)
    }
    forgetMembers(Set(merged.deleted.compactMap { table.object(for: $0) }))
    finishMerge(merged)
  }

  /// Whether objects that a save of this stack inserted may have been changed or deleted since.
  private final func mayBeOvertaken(_ changes: SavedChanges, _ chain: ReadChain?) -> Bool {
    if changes.isOvertaken { return true }
    guard let chain else { return false }
    // What a parent has not stored may be rolled back there; ancestors may have deleted what is stored.
    return !changes.isStored || chain.hasDeletions
  }

  /// Whether the context merges all saves in order and this is the newest one: then it has yet to merge a later deletion
  /// of what the save inserted, and announces both.
  private final func mergesInOrder(_ changes: SavedChanges) -> Bool {
    automaticallyMergesChangesFromParent && changes.isStored
      && changes.epoch > max(mergedEpoch, savePass.epoch)
  }

  /// What has become of an object that a save merged now has inserted.
  private enum Standing {
    /// It is there, with these values if any are in memory.
    case there(Row?)
    case gone
    /// Not in memory: the store has to be read.
    case unknown(ObjectKey)
  }

  /// - Parameters:
  ///   - row: Its values, as if it had not been changed or deleted since.
  ///   - chain: What a child reads through; nil for a context that reads the stores.
  private final func standing(
    of id: NSManagedObjectID, _ row: Row?, _ chain: ReadChain?
  ) -> Standing {
    let key = IdentityKey(id)
    let cache = persistentStoreCoordinator?.rowCache
    guard let chain else {
      guard let stored = id.key else { return .there(row) }
      // Changes of it may have been merged already, when there was no object yet to take them.
      if let newest = cache?.row(for: stored) { return .there(newest) }
      return table.object(for: id) == nil ? .unknown(stored) : .there(nil)
    }
    if table.object(for: id) != nil { return .there(row) }
    if let found = chain.entry(for: key) { return found.row == nil ? .gone : .there(row) }
    guard let stored = id.key else { return .gone }
    return cache?.row(for: stored) == nil ? .unknown(stored) : .there(row)
  }

  /// An insertion of which no current row is in memory.
  private struct UnknownInsertion {
    let key: ObjectKey
    let changed: SlotSet
    /// What was saved, where that is to be shown even if the object is gone by now.
    let saved: Row?
  }

  /// Merges insertions that only the store knows of, read in one go.
  private final func mergeInsertions(_ unknown: [UnknownInsertion], into merged: inout MergedSets) {
    // If the store cannot be read now, firing the faults reports it.
    let rows = try? persistentStoreCoordinator?.rows(for: unknown.map(\.key))
    for (position, insertion) in unknown.enumerated() {
      let row = rows?[position] ?? insertion.saved
      if rows != nil, row == nil { continue }
      let id = NSManagedObjectID(insertion.key)
      mergeInsertion(of: id, row: row, changed: insertion.changed, into: &merged)
      if let row { followPendingDeletions(id, row) }
    }
  }

  // MARK: By identity

  final func merge(_ ids: MergedIDs) {
    beginMerge()
    defer { endMerge() }
    advanceGeneration()
    var merged = MergedSets()
    let chain = ReadChain(above: self)
    func row(_ id: NSManagedObjectID) -> Row? {
      guard case .row(let row)? = try? chain.read(id).found else { return nil }
      return row
    }
    for id in ids.inserted { mergeInsertion(of: localized(id), row: nil, changed: SlotSet(), into: &merged) }
    for id in ids.updated {
      let id = localized(id)
      // A fault that was handed out is laid over what there is now, so that this has to be read.
      guard let object = table.object(for: id), !object.isFault || object._draft != nil else {
        if let fault = table.object(for: id) { showUnseen(nil, at: fault) }
        recordUnseenMerge(id, nil)
        continue
      }
      mergeUpdate(of: id, row: row(id), changed: SlotSet(), into: &merged)
    }
    for id in ids.deleted { mergeDeletion(of: localized(id), into: &merged) }
    // Saves before these deletions may be merged later, and must not bring anything back.
    if !ids.deleted.isEmpty { mergedEpoch = persistentStoreCoordinator?.rowCache.epoch ?? mergedEpoch }
    forgetMembers(Set(merged.deleted.compactMap { table.object(for: $0) }))
    finishMerge(merged)
  }

  // MARK: One object

  /// - Parameter changed: What the save has changed; nothing where only identities are told.
  private final func mergeInsertion(
    of id: NSManagedObjectID, row: Row?, changed: SlotSet, into merged: inout MergedSets
  ) {
    if let object = table.object(for: id) {
      if object.isFault {
        if let row { showUnseenNews(row, at: object) }
      } else if let row, object._row != nil, isNews(row, for: object) {
        // A child that has read its parent's unsaved object: it was changed again before the parent saved.
        show(row, at: object)
        object.awake(fromSnapshotEvents: .refresh)
        recordEvent(object, .eventRefreshed)
      } else {
        if let row { adoptEqual(row, at: object) }
        rereadMembers(of: object, changed)
      }
      // What was inserted here, or merged before, has been announced.
      if object._flags.isDisjoint(with: [.inserted, .toldInserted]) {
        recordEvent(object, .eventMergedInsert)
      }
      merged.inserted.insert(object._objectID)
      return
    }
    let object: NSManagedObject
    if overlay.hasReaders, let entry = overlay.layers.entry(for: IdentityKey(id)) {
      // A child was faster: it has read the object and handed up a change.
      object = materialize(entry)
      if object._flags.contains(.deleted) { return }
    } else {
      object = make(id.canonical, row: row)
      if row == nil { faultBatch.add(object) }
    }
    recordEvent(object, .eventMergedInsert)
    merged.inserted.insert(object._objectID)
  }

  private final func mergeUpdate(
    of id: NSManagedObjectID, row: Row?, changed: SlotSet, into merged: inout MergedSets
  ) {
    guard let object = heldObject(for: id) else {
      recordUnseenMerge(id, row)
      return
    }
    guard !object.isFault else {
      // Not visible yet: it has the newer values when it is.
      if object._row != nil {
        if let row { showUnseenNews(row, at: object) } else { showUnseen(nil, at: object) }
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
    if isNews(row, for: object) {
      show(row, at: object)
    } else {
      adoptEqual(row, at: object)
      rereadMembers(of: object, changed)
    }
    if object._shape.hasOwnClass { object.awake(fromSnapshotEvents: .refresh) }
    recordEvent(object, .eventRefreshed)
    merged.refreshed.insert(object._objectID)
    merged.updated.insert(object._objectID)
  }

  /// Whether a row that was saved elsewhere is not older than what the object shows.
  ///
  /// A save told of late may be older than what this context has written or read since. Between parent and
  /// child versions say nothing of the order, but there the row holds what the parents have now.
  private final func isNews(_ row: Row, for object: NSManagedObject) -> Bool {
    guard let mine = object._row else { return true }
    return isNews(row, over: mine, object._layout)
  }

  /// Adopts a parent's row with the values that the object has already. Members may have changed all the same, and been
  /// changed back before the parent saved, which its save does not tell.
  private final func adoptEqual(_ row: Row, at object: NSManagedObject) {
    guard _parent != nil, let mine = object._row, !(mine === row) else { return }
    object.advanceVersion(to: row)
    object._relations?.dropClean()
  }

  private final func showUnseenNews(_ row: Row, at object: NSManagedObject) {
    if isNews(row, for: object) { showUnseen(row, at: object) } else { object.advanceVersion(to: row) }
  }

  /// Whether a row has news for an object that shows another. Rows of a child's parents are put together for each
  /// read, so that their values tell.
  final func isNews(_ row: Row, over mine: Row, _ layout: PropertyLayout) -> Bool {
    if mine === row { return false }
    return _parent == nil ? row.version >= mine.version : !row.hasSameValues(as: mine, layout)
  }

  /// Makes to-manys that a save has changed read again, though the values are no news. A child may have made
  /// them itself, on top of its own older ones, which had reached the stores with members that a sibling had
  /// added.
  private final func rereadMembers(of object: NSManagedObject, _ changed: SlotSet) {
    guard _parent != nil else { return }
    object._relations?.forEachToMany { slot, state in
      if changed.contains(slot) { state.unrealise() }
    }
  }

  private final func mergeDeletion(of id: NSManagedObjectID, into merged: inout MergedSets) {
    guard let object = heldObject(for: id) else { return }
    merged.deleted.insert(object._objectID)
    guard !object._flags.contains(.deleted) else { return }
    object._state.finishPropagation()
    deleteObject(object)
    cutReferences(to: object)
  }

  private final func finishMerge(_ merged: MergedSets) {
    processPendingChanges()
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

/// IDs of what a merge did in the receiver.
struct MergedSets {
  var inserted = Set<NSManagedObjectID>()
  var updated = Set<NSManagedObjectID>()
  var deleted = Set<NSManagedObjectID>()
  var refreshed = Set<NSManagedObjectID>()
}

/// Identities from a user info dictionary of any of the forms that merging accepts.
struct MergedIDs {
  var inserted: [NSManagedObjectID] = []
  var updated: [NSManagedObjectID] = []
  var deleted: [NSManagedObjectID] = []

  var changed: [NSManagedObjectID] { updated + deleted }

  init(_ userInfo: [AnyHashable: Any], resolving coordinator: NSPersistentStoreCoordinator? = nil) {
    func ids(_ keys: String...) -> [NSManagedObjectID] {
      keys.flatMap { key -> [NSManagedObjectID] in
        let members: [Any] =
          switch userInfo[key] {
          case let set as Set<NSManagedObject>: Array(set)
          case let set as Set<NSManagedObjectID>: Array(set)
          case let set as NSSet: set.allObjects
          case let array as [Any]: array
          default: []
          }
        return members.compactMap { member in
          switch member {
          case let id as NSManagedObjectID: id
          case let object as NSManagedObject: object.objectID
          case let url as URL: coordinator?.managedObjectID(forURIRepresentation: url)
          default: nil
          }
        }
      }
    }
    inserted = ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = ids(
      NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
    deleted = ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }
}
