import CoreDataModelSchema
import Foundation

// Routing saves to the stores.

extension NSPersistentStoreCoordinator {
  /// Writes entries, each to its store, in one transaction of each store.
  ///
  /// - Parameters:
  ///   - locked: Unchanged objects whose version is checked along.
  ///   - origin: Who saves, for the stores' histories.
  ///   - context: The context that saves, whose objects custom stores are given.
  /// - Returns: Rows in which a store has computed values itself, and the place in history that the save has
  ///   led to.
  /// - Throws: `StoreConflictError`, `StoreConstraintError` or a Cocoa error; then nothing was written, or
  ///   with several stores, 134040 when one had committed already as the next failed to.
  final func commit(
    _ entries: [Layer.Entry], locked: [NSManagedObject], by origin: ChangeOrigin,
    in context: NSManagedObjectContext
  ) throws -> Outcome {
    let entries = entries.persistent
    let stores = persistentStores
    let changes = try _routed(entries, locked, stores)
    if stores.count > 1 { try _checkRelationships(entries, stores) }
    // The row cache learns of commits in the order in which they were made.
    let outcome = try Interleaving.writing {
      try commitOrder.withLock { _ in
        var saved = JointSave()
        do {
          try _write(changes, by: origin, in: context, into: &saved)
        } catch {
          // The stores that have committed have their part, and faults are to show it.
          if !saved.written.isEmpty {
            adopt(entries.filter { entry in saved.written.contains { $0 === entry.id.key?.space.store } })
          }
          throw error
        }
        Interleaving.reach(.commit)
        var outcome = saved.outcome
        outcome.epoch = adopt(entries)
        if !outcome.computed.isEmpty {
          outcome.epoch = rowCache.commit(
            written: outcome.computed.compactMap { object in object.row.map { (object.key, $0) } },
            deleted: [])
        }
        return outcome
      }
    }
    clearAssignments(entries.lazy.filter { $0.kind == .inserted }.map(\.id))
    return outcome
  }

  /// What a save has come to; `epoch` is the row cache's.
  typealias Outcome = (computed: [StoredObject], token: NSPersistentHistoryToken?, epoch: Int)

  /// What one store is to write.
  private typealias StoreChanges = (store: NSPersistentStore, set: ChangeSet)

  /// The entries as a change set for each store.
  private final func _routed(
    _ entries: [Layer.Entry], _ locked: [NSManagedObject], _ stores: [NSPersistentStore]
  ) throws -> [StoreChanges] {
    var changes: [StoreChanges] = stores.map { ($0, ChangeSet()) }
    let goesToOne = stores.count == 1 && stores[0].takesAllEntities
    try entries.forEachHeld { entry in
      // Nearly always there is one store, and where something new goes needs no looking.
      let index = goesToOne && !entry.id.isPermanent ? 0 : try _storeIndex(for: entry.id, stores)
      switch entry.kind {
      case .inserted:
        changes[index].set.inserted.append(ChangeSet.Insertion(id: entry.id, row: entry.row!))
      case .updated:
        changes[index].set.updated.append(
          ChangeSet.Update(id: entry.id, base: entry.base!, row: entry.row!, changed: entry.changed))
      case .deleted:
        let base = entry.base ?? Row(count: entry.id.space.layout.slots.count, version: 0)
        changes[index].set.deleted.append(ChangeSet.Deletion(id: entry.id, base: base))
      case .annihilated: break
      }
    }
    for object in locked {
      guard let row = object._row else { continue }
      let index = try _storeIndex(for: object._objectID, stores)
      changes[index].set.locked.append(ChangeSet.Lock(id: object._objectID, base: row))
    }
    return changes
  }

  /// Writes each store that has anything to write, its metadata included; where there are several, all of
  /// them before any commits, so that what one refuses is in none.
  private final func _write(
    _ changes: [StoreChanges], by origin: ChangeOrigin, in context: NSManagedObjectContext,
    into saved: inout JointSave
  ) throws {
    // A custom store receives a save without changes, too: it writes metadata then.
    var changes = changes.filter { store, set in
      !set.isEmpty || store.needsMetadataSave || store.objectEngine != nil && !store.isReadOnly
    }
    for (store, set) in changes where store.isReadOnly && !set.isEmpty {
      throw CocoaError.coreData(
        NSPersistentStoreSaveError,
        "The store at \(store.url?.path ?? "memory") is read-only; add it without "
          + "NSReadOnlyPersistentStoreOption to save to it.", [NSAffectedStoresErrorKey: [store]])
    }
    // Coordinators that write the same files lock them in the same order, so that they do not wait for each
    // other. What a custom store has done is not undone; it comes when the others have written all that
    // may be refused.
    if changes.count > 1 {
      changes.sort { left, right in
        let (isLeftOwn, isRightOwn) = (left.store.objectEngine != nil, right.store.objectEngine != nil)
        return isLeftOwn == isRightOwn ? left.store.identifier < right.store.identifier : isRightOwn
      }
    }
    do {
      try _write(changes[...], by: origin, in: context, into: &saved)
    } catch {
      guard !saved.written.isEmpty else { throw error }
      let missing = changes.filter { change in
        !change.set.isEmpty && !saved.written.contains { $0 === change.store.key }
      }
      throw CocoaError.coreData(
        NSPersistentStoreIncompleteSaveError,
        "One of several stores could not commit after others had. What they have got stays.",
        [NSAffectedStoresErrorKey: missing.map(\.store), NSUnderlyingErrorKey: error])
    }
  }

  /// Writes the first store and, before it commits, the others.
  private final func _write(
    _ changes: ArraySlice<StoreChanges>, by origin: ChangeOrigin, in context: NSManagedObjectContext,
    into saved: inout JointSave
  ) throws {
    guard let (store, set) = changes.first else { return }
    let others = changes.dropFirst()
    try StoreErrors.translating(url: store.url) {
      try store.saveMetadataIfNeeded()
      if let engine = store.objectEngine {
        saved.computed += try engine.save(set, in: context) {
          try _write(others, by: origin, in: context, into: &saved)
        }.computed
        if !set.isEmpty { saved.written.append(store.key) }
        return
      }
      if set.isEmpty { return try _write(others, by: origin, in: context, into: &saved) }
      var set = set
      set.origin = origin
      let outcome = try store.engine!.save(set) {
        if !others.isEmpty { try _write(others, by: origin, in: context, into: &saved) }
      }
      saved.computed += outcome.computed
      saved.transactions[store.identifier] = outcome.transaction
      saved.written.append(store.key)
    }
  }

  /// What a save into one or several stores has come to so far.
  private struct JointSave {
    var computed: [StoredObject] = []
    var transactions: [String: Int64] = [:]
    /// Stores that have committed.
    var written: [StoreKey] = []

    var outcome: Outcome {
      (computed, transactions.isEmpty ? nil : NSPersistentHistoryToken(transactions), 0)
    }
  }

  /// Refuses relationships between objects of different stores, before anything is written to any.
  private final func _checkRelationships(_ entries: [Layer.Entry], _ stores: [NSPersistentStore]) throws {
    for entry in entries {
      guard let row = entry.row else { continue }
      let layout = entry.id.space.layout
      let home = try _storeIndex(for: entry.id, stores)
      for slot in layout.slots.indices where layout.slots[slot].relationship != nil {
        let others: [NSManagedObjectID] =
          switch row[slot] {
          case .reference(let key): [NSManagedObjectID(key)]
          case .pending(let id): [id]
          case .toMany(let delta): delta.added
          default: []
          }
        for other in others where try _storeIndex(for: other, stores) != home {
          throw CocoaError.coreData(
            NSManagedObjectExternalRelationshipError,
            "\(layout.entityName).\(layout.slots[slot].name) leads to an object of another store. Relationships stay within "
              + "one store; keep the other object's URI instead, or save both to one store.",
            [NSAffectedObjectsErrorKey: [entry.id, other]])
        }
      }
    }
  }

  /// Puts what was saved into the row cache.
  ///
  /// - Returns: The cache's epoch from then on.
  @discardableResult
  final func adopt(_ entries: [Layer.Entry]) -> Int { rowCache.commit(entries) }

  /// Gives temporary IDs their permanent ones.
  final func obtainPermanentIDs(
    for ids: [NSManagedObjectID], in context: NSManagedObjectContext
  ) throws {
    let stores = persistentStores
    var byStore: [Int: [NSManagedObjectID]] = [:]
    for id in ids { byStore[try _storeIndex(for: id, stores), default: []].append(id) }
    for (index, ids) in byStore {
      if let engine = stores[index].objectEngine {
        try StoreErrors.translating { try engine.obtainPermanentIDs(for: ids, in: context) }
        continue
      }
      let engine = stores[index].engine!
      var counts: [Int: Int] = [:]
      for id in ids { counts[id.space.layout.entityNumber, default: 0] += 1 }
      var keys = try Interleaving.writing { try engine.reserveKeys(counts) }.mapValues { $0[...] }
      for id in ids {
        let number = id.space.layout.entityNumber
        guard let reference = keys[number]?.popFirst() else { continue }
        id.link(to: NSManagedObjectID(ObjectKey(space: engine.spaces[number - 1], reference: reference)))
      }
    }
  }

  /// Tells custom stores which objects a context does not show any more.
  final func didUnregister(_ ids: [NSManagedObjectID]) {
    for store in persistentStores {
      guard let engine = store.objectEngine else { continue }
      let own = ids.compactMap(\.permanent).filter { $0.space.store === store.key }
      if !own.isEmpty { engine.didUnregister(own) }
    }
  }

  /// The store that an object is in, or that a new one goes to: the one it was assigned to, or the first that
  /// is writable and takes its entity.
  private final func _storeIndex(for id: NSManagedObjectID, _ stores: [NSPersistentStore]) throws -> Int {
    if let key = id.key {
      guard let index = stores.firstIndex(where: { $0.key === key.space.store }) else {
        throw CocoaError.coreData(
          NSPersistentStoreSaveError,
          "\(id.uriRepresentation().absoluteString) belongs to a store that this coordinator does "
            + "not have (any more).")
      }
      return index
    }
    if let assigned = assignedStore(for: id), let index = stores.firstIndex(where: { $0 === assigned }) {
      return index
    }
    let entity = id.space.layout.entityName
    if stores.count == 1, stores[0].takesAllEntities { return 0 }
    if let index = stores.firstIndex(where: { !$0.isReadOnly && $0.takes(entity) }) { return index }
    throw CocoaError.coreData(
      NSPersistentStoreSaveError,
      stores.isEmpty
        ? "The coordinator has no store to save to; add one with addPersistentStore(ofType:configurationName:at:options:)."
        : "No writable store of the coordinator takes entity '\(entity)'; check the stores' configurations.")
  }
}
