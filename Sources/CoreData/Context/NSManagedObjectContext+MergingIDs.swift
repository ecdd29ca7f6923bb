import CoreDataModelSchema
import Foundation

// Merging changes that are known by ID only: of batch requests, of history, of other processes.

extension NSManagedObjectContext {
  /// Merges changes by ID. The rows of loaded and of inserted objects are read in one batch; an object whose
  /// row is gone meanwhile is merged as deleted, whatever the changes call it.
  final func merge(_ ids: MergedIDs) {
    beginMerge()
    defer { endMerge() }
    advanceGeneration()
    var merged = MergedSets()
    let inserted = ids.inserted.map(localized)
    // Faults are not read for an update: they show the current row when they fire. A shared draft is rebased
    // on it now.
    let updated = ids.updated.map(localized).map { id in
      let object = table.object(for: id)
      return (id: id, object: object, isRead: object.map { !$0.isFault || $0._draft != nil } ?? false)
    }
    let deleted = ids.deleted.map(localized)
    let rows = CurrentRows(
      of: inserted + updated.lazy.filter(\.isRead).map(\.id)
        + deleted.filter { table.object(for: $0) != nil },
      readBy: self)
    var isAnyGone = !deleted.isEmpty
    for id in inserted {
      switch rows.state(of: id) {
      case .there(let row): mergeInsertion(of: id, row: row, changed: SlotSet(), into: &merged)
      case .unread: mergeInsertion(of: id, row: nil, changed: SlotSet(), into: &merged)
      case .gone:
        isAnyGone = true
        mergeDeletion(of: id, as: .deletedInStore, into: &merged)
      }
    }
    for (id, object, isRead) in updated {
      guard isRead else {
        if let object { attachRowToFault(nil, at: object) }
        recordUnseenMerge(id, nil)
        continue
      }
      switch rows.state(of: id) {
      case .there(let row) where object?._flags.contains(.deletedElsewhere) ?? false:
        mergeInsertion(of: id, row: row, changed: SlotSet(), into: &merged)
      case .there(let row): mergeUpdate(of: id, row: row, changed: SlotSet(), into: &merged)
      case .unread: mergeUpdate(of: id, row: nil, changed: SlotSet(), into: &merged)
      case .gone:
        isAnyGone = true
        _mergeDisappearance(of: id, into: &merged)
      }
    }
    for id in deleted {
      // The caller may be wrong: then the next save deletes the row.
      if case .gone = rows.state(of: id) {
        mergeDeletion(of: id, as: .deletedInStore, into: &merged)
      } else {
        mergeDeletion(of: id, as: .merged, into: &merged)
      }
    }
    if isAnyGone { noteForeignDeletions() }
    forgetMembers(Set(merged.deleted.compactMap { table.object(for: $0) }))
    finishMerge(merged)
  }

  /// Notes that deletions have been merged which no save of this stack tells of: of another coordinator, of another
  /// process. Older saves of this stack may be merged later; they must not bring the objects back.
  final func noteForeignDeletions() {
    guard let coordinator = persistentStoreCoordinator else { return }
    mergedEpoch = max(mergedEpoch, coordinator.rowCache.epoch)
  }

  /// Merges an update of a row that is gone. An object with unsaved changes keeps them: the merge policy
  /// decides when it is saved.
  private final func _mergeDisappearance(of id: NSManagedObjectID, into merged: inout MergedSets) {
    if table.object(for: id)?.isDirty ?? false { return }
    mergeDeletion(of: id, as: .deletedInStore, into: &merged)
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

/// IDs from any user info dictionary that merging accepts.
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
