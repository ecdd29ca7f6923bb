import CoreDataModelSchema
import Foundation

// Routing saves to the stores.

extension NSPersistentStoreCoordinator {
  /// Writes each entry to its store, in one transaction per store.
  ///
  /// - Parameters:
  ///   - rows: Rows to delete before all else.
  ///   - locked: Unchanged objects whose version is checked as well.
  ///   - origin: The author of the save, for the stores' histories.
  ///   - work: What the program does in the transaction of one store.
  ///   - context: The saving context, whose objects custom stores receive.
  /// - Returns: Rows with values computed by a store, and the history token of the save.
  /// - Throws: `StoreConflictError`, `StoreConstraintError` or a Cocoa error. Nothing was written then; with
  ///   several stores, error 134040 means that one had committed before the next one failed.
  final func commit(
    _ entries: [ChangeLayer.Entry], deleting rows: [KeyRun], locked: [NSManagedObject],
    by origin: ChangeOrigin,
    working work: (store: NSPersistentStore, work: any StoreWork)?, in context: NSManagedObjectContext
  ) throws -> Outcome {
    let entries = entries.persistent
    let stores = persistentStores
    var changes = try _routed(entries, locked, stores)
    for run in rows {
      guard let index = stores.firstIndex(where: { $0.key === run.space.store }) else { continue }
      changes[index].set.rows.append(run)
    }
    if let work, let index = stores.firstIndex(of: work.store) { changes[index].set.work = work.work }
    if stores.count > 1 { try _checkRelationships(entries, stores) }
    let insertsAgain = entries.contains { $0.kind == .inserted && $0.id.isPermanent }
    let commit = RowCache.Commit(entries: entries, runs: rows)
    // A store that one process writes at a time commits in an order, in which the row cache must see the commits.
    let isOrdered = stores.contains { !($0.engine?.isRemote ?? false) }
    func write() throws -> Outcome {
      try _write(changes, commit, isOrdered: isOrdered, insertsAgain: insertsAgain, by: origin, in: context)
    }
    let outcome = try Interleaving.writing {
      try isOrdered ? commitOrder.withLock { _ in try write() } : write()
    }
    clearAssignments(entries.lazy.filter { $0.kind == .inserted }.map(\.id))
    return outcome
  }

  /// Writes to the stores and adopts in the row cache what was written.
  private final func _write(
    _ changes: [StoreChanges], _ commit: RowCache.Commit, isOrdered: Bool, insertsAgain: Bool,
    by origin: ChangeOrigin, in context: NSManagedObjectContext
  ) throws -> Outcome {
    let begun = rowCache.moment
    var commit = commit
    var saved = JointSave()
    do {
      try _write(changes, by: origin, in: context, into: &saved)
    } catch {
      // Committed stores keep their part of the save, and faults must show it.
      if !saved.written.isEmpty {
        commit.entries.removeAll { entry in !saved.written.contains { $0 === entry.id.key?.space.store } }
        rowCache.commit(commit, begunAt: isOrdered ? nil : begun)
      }
      throw error
    }
    Interleaving.reach(.commit)
    var outcome = saved.outcome
    commit.written = outcome.computed.compactMap { object in object.row.map { (object.key, $0) } }
    commit.written += outcome.followed.cut.map { ($0.key, $0.row) }
    if !outcome.overtaken.isEmpty { commit.written += Self._written(commit.entries, over: outcome.overtaken) }
    commit.deleted = outcome.followed.deleted + outcome.overwritten
    outcome.epoch = rowCache.commit(commit, begunAt: isOrdered ? nil : begun)
    // What came in between may have replaced or dropped the same rows later.
    outcome.begunEpoch = isOrdered ? outcome.epoch - 1 : begun.epoch
    if outcome.epoch == begun.epoch + 1 { outcome.formerEpoch = begun.epoch }
    if insertsAgain { lastReinsertion.store(outcome.epoch, ordering: .releasing) }
    return outcome
  }

  /// Returns the rows of the updates that stores have applied to newer ones.
  private static func _written(
    _ entries: [ChangeLayer.Entry], over overtaken: [VersionConflict]
  ) -> [(ObjectKey, Row)] {
    var newer: [IdentityKey: Row] = [:]
    for conflict in overtaken { newer[IdentityKey(conflict.id)] = conflict.persisted }
    return entries.compactMap { entry in
      guard let key = entry.id.key, let row = newer[IdentityKey(entry.id)] else { return nil }
      return entry.written(over: row).row.map { (key, $0) }
    }
  }

  /// The result of a save into one or several stores.
  struct Outcome {
    var computed: [StoredObject] = []
    var followed = FollowedRules()
    var overwritten: [ObjectKey] = []
    var overtaken: [VersionConflict] = []
    var token: NSPersistentHistoryToken?
    /// The row cache's epoch after the save.
    var epoch = 0
    /// The epoch after which other saves may be newer than this one.
    var begunEpoch = 0
    /// The epoch before the saved entries, if nothing happened to the cache in between.
    var formerEpoch: Int?

    /// Whether the stores hold the saved rows as they are in the save.
    var isAsSaved: Bool { computed.isEmpty && followed.isEmpty && overtaken.isEmpty }
  }

  /// The changes for one store.
  private typealias StoreChanges = (store: NSPersistentStore, set: ChangeSet)

  /// Splits the entries into a change set per store.
  private final func _routed(
    _ entries: [ChangeLayer.Entry], _ locked: [NSManagedObject], _ stores: [NSPersistentStore]
  ) throws -> [StoreChanges] {
    var changes: [StoreChanges] = stores.map { ($0, ChangeSet()) }
    let goesToOne = stores.count == 1 && stores[0].takesAllEntities
    try entries.forEachUnretained { entry in
      // With a single store, the usual case, new objects need no look-up.
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
      case .insertedThenDeleted: break
      }
    }
    for object in locked {
      guard let row = object._row else { continue }
      let index = try _storeIndex(for: object._objectID, stores)
      changes[index].set.locked.append(ChangeSet.Lock(id: object._objectID, base: row))
    }
    return changes
  }

  /// Writes each store that has changes, including metadata. Several stores are all written before any
  /// commits, so that a rejection by one keeps the save out of all.
  private final func _write(
    _ changes: [StoreChanges], by origin: ChangeOrigin, in context: NSManagedObjectContext,
    into saved: inout JointSave
  ) throws {
    // A custom store also receives an empty save, on which it writes metadata.
    var changes = changes.filter { store, set in
      !set.isEmpty || store.needsMetadataSave || store.objectEngine != nil && !store.isReadOnly
    }
    for (store, set) in changes where store.isReadOnly && !set.isEmpty {
      throw store.readOnlyError("save to it")
    }
    // Coordinators that write the same files lock them in the same order, which avoids deadlock. A custom
    // store cannot roll back, so it comes after all stores that may reject the save.
    if changes.count > 1 {
      changes = changes.ordered { left, right in
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
        let outcome = try engine.save(set, in: context) {
          try CustomStoreError.marking { try _write(others, by: origin, in: context, into: &saved) }
        }
        saved.add(outcome)
        if !set.isEmpty { saved.written.append(store.key) }
        return
      }
      if set.isEmpty { return try _write(others, by: origin, in: context, into: &saved) }
      var set = set
      set.origin = origin
      set.isJoint = others.contains { !$0.set.isEmpty }
      let outcome = try store.engine!.save(set) {
        if others.isEmpty { return }
        try CustomStoreError.marking { try _write(others, by: origin, in: context, into: &saved) }
      }
      saved.add(outcome)
      saved.transactions[store.identifier] = outcome.transaction
      saved.written.append(store.key)
    }
  }

  /// The progress of a save into one or several stores.
  private struct JointSave {
    private var _outcome = Outcome()
    var transactions: [String: Int64] = [:]
    /// Stores that have committed.
    var written: [StoreKey] = []

    var outcome: Outcome {
      var outcome = _outcome
      outcome.token = transactions.isEmpty ? nil : NSPersistentHistoryToken(transactions)
      return outcome
    }

    /// Adds what one store has computed and changed.
    mutating func add(_ outcome: SaveOutcome) {
      _outcome.computed += outcome.computed
      _outcome.followed += outcome.followed
      _outcome.overwritten += outcome.overwritten
      _outcome.overtaken += outcome.overtaken
    }
  }

  /// Rejects relationships between objects of different stores before anything is written.
  private final func _checkRelationships(_ entries: [ChangeLayer.Entry], _ stores: [NSPersistentStore]) throws
  {
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

  /// Updates the rows in the cache that another coordinator has saved. Rows that the cache does not have are
  /// not added: they may have been deleted since.
  final func adoptForeign(_ entries: [ChangeLayer.Entry]) {
    var commit = RowCache.Commit()
    for entry in entries {
      guard let key = entry.id.key else { continue }
      if entry.kind == .deleted || rowCache.row(for: key) != nil {
        commit.entries.append(entry)
      } else {
        // A read that began before may still bring the former row.
        commit.deleted.append(key)
      }
    }
    let epoch = rowCache.commit(commit)
    if entries.contains(where: { $0.kind == .inserted }) {
      lastReinsertion.store(epoch, ordering: .releasing)
    }
  }

  /// Returns the row format of the store that receives new objects of an entity; nil if it does not pack
  /// their rows.
  final func draftFormat(of layout: PropertyLayout) -> RowFormat? {
    let store = persistentStores.first { !$0.isReadOnly && $0.takes(layout.entityName) }
    guard let formats = store?.engine?.rowFormats, layout.entityNumber <= formats.count else { return nil }
    return formats[layout.entityNumber - 1]
  }

  /// Assigns permanent IDs to temporary ones.
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

  /// Notifies custom stores of objects that a context has unregistered.
  final func didUnregister(_ ids: [NSManagedObjectID]) {
    for store in persistentStores {
      guard let engine = store.objectEngine else { continue }
      let own = ids.compactMap(\.permanent).filter { $0.space.store === store.key }
      if !own.isEmpty { engine.didUnregister(own) }
    }
  }

  /// Returns the index of an object's store. A new object goes to its assigned store, or to the first
  /// writable one that holds its entity.
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
    if let store = stores.first(where: { $0.takes(entity) }) { throw store.readOnlyError("save to it") }
    throw CocoaError.coreData(
      NSPersistentStoreSaveError,
      stores.isEmpty
        ? "The coordinator has no store to save to; add one with addPersistentStore(ofType:configurationName:at:options:)."
        : "No store of the coordinator takes entity '\(entity)'; check the stores' configurations.")
  }
}
