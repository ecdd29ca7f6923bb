import CoreDataModelSchema
import Foundation

/// Prepares the next attempt of a rejected save: passes the conflicts to the merge policy as objects, then
/// collects the save again from the resolved objects.
struct ConflictResolver {
  let context: NSManagedObjectContext
  private var _attempts = 0
  /// Outcomes, by value, for children's changes to objects that the context has not registered.
  private var _resolved: [IdentityKey: Outcome] = [:]
  /// Objects whose rows were deleted elsewhere.
  private var _gone: [NSManagedObjectID] = []
  /// Objects that the next attempt links to and, as the policy has dropped their own changes, does not write.
  /// Their versions are checked, so that no link is stored to a row that is gone by then.
  private(set) var linked: [LinkedObject] = []

  private enum Outcome {
    case rewritten(ChangeLayer.Entry)
    /// The row is gone, and with it the change.
    case gone
  }

  init(context: NSManagedObjectContext) { self.context = context }

  /// Returns the entries of the next attempt after version conflicts.
  ///
  /// - Throws: Errors of the policy.
  mutating func resolve(_ conflicts: [VersionConflict], in entries: [ChangeLayer.Entry]) throws
    -> [ChangeLayer.Entry]
  {
    try _count()
    var byKey: [IdentityKey: ChangeLayer.Entry] = [:]
    for entry in entries { byKey[IdentityKey(entry.id)] = entry }
    var list: [NSMergeConflict] = []
    for conflict in conflicts {
      let key = IdentityKey(conflict.id)
      let entry = byKey[key]
      let object = context.table.object(for: conflict.id)
      if conflict.persisted == nil { _gone.append(conflict.id) }
      if let entry, !(object?._flags.contains(.listed) ?? false) {
        // A child's change to an object that this context never read is rebased on the stored row, as if the
        // child had read that.
        _resolved[key] = _rebased(entry, conflict, object)
      } else if entry?.kind == .deleted, conflict.persisted == nil {
        // Already deleted by another context: same outcome.
        object?._state.recordMissingRow()
      } else {
        list.append(NSMergeConflict(conflict, object: object ?? context.registry.objectOrFault(conflict.id)))
      }
    }
    _forgetRows(of: conflicts)
    if !list.isEmpty {
      let deleted = Set(list.lazy.map(\.sourceObject).filter { $0._flags.contains(.deleted) })
      try context.policy.resolve(mergeConflicts: list)
      restoreLinks(of: deleted.filter { !$0._flags.contains(.deleted) })
    }
    return try _collect()
  }

  /// Drops the rows from the row cache, also if the policy throws: a retry in a new context would meet the
  /// same conflict with them. The conflicts have taken their snapshots of the cache before. The stored rows
  /// are not put there instead, since another save of the coordinator may have overtaken them.
  private func _forgetRows(of conflicts: [VersionConflict]) {
    context.persistentStoreCoordinator?.rowCache.forget(conflicts.compactMap(\.id.key))
  }

  /// Returns the entries of the next attempt after violations of uniqueness constraints.
  ///
  /// - Throws: Errors of the policy.
  mutating func resolve(_ violations: [StoreConstraintError.Violation]) throws -> [ChangeLayer.Entry] {
    try _count()
    try context.policy.resolve(mergeConflicts: violations.map(_conflict))
    return try _collect()
  }

  private mutating func _count() throws {
    _attempts += 1
    context.saving.hasResolved = true
    guard _attempts < 100 else {
      throw CocoaError.coreData(
        NSManagedObjectMergeError,
        "The save met new conflicts 100 times in a row; other writers are too busy on the same "
          + "rows, or the merge policy does not resolve what it is given. Try again later.",
        shown: NSMergePolicy.failure)
    }
  }

  private mutating func _collect() throws -> [ChangeLayer.Entry] {
    // An object that the policy writes again is not gone.
    let gone = _gone.filter { context.table.object(for: $0)?._flags.contains(.deletedInStore) ?? true }
    context.links.cutReferences(to: gone)
    context.processPendingChanges()
    let commit = CommitPass(context)
    var entries = try commit.onStoredRows(commit.withoutLost(CollectPass(context).run().entries))
    if !_resolved.isEmpty {
      entries = entries.compactMap { entry in
        switch _resolved[IdentityKey(entry.id)] {
        case nil: return entry
        case .gone?: return nil
        case .rewritten(let rewritten)?:
          // Resolving another conflict has since changed the object on top of this outcome.
          let isOwn = context.table.object(for: entry.id)?._flags.contains(.listed) ?? false
          return isOwn ? entry : rewritten
        }
      }
    }
    entries = entries.dropping(gone)
    linked = try _unwrittenTargets(of: entries)
    return entries
  }

  /// The objects that entries link to without writing them, with the rows that this context knows.
  ///
  /// - Throws: Errors of reading them.
  private func _unwrittenTargets(of entries: [ChangeLayer.Entry]) throws -> [LinkedObject] {
    let written = IdentitySet(entries.lazy.map(\.id))
    var targets: [NSManagedObject: SlotSet] = [:]
    func add(_ id: NSManagedObjectID, _ inverse: Int?) throws {
      guard id.key != nil, !written.contains(id) else { return }
      let target = context.registry.objectOrFault(id)
      if target._flags.contains(.deleted) { return }
      if target._row == nil { _ = try FaultPass(context).load(target) }
      inverse.map { targets[target, default: SlotSet()].insert($0) }
    }
    for entry in entries {
      guard let row = entry.row else { continue }
      let slots = entry.id.space.layout.slots
      for slot in slots.indices where entry.changed.contains(slot) {
        guard let relationship = slots[slot].relationship else { continue }
        if case .toMany(let delta) = row[slot] {
          for id in delta.added { try add(id, relationship.inverseSlot) }
        } else if let key = row[slot].key {
          try add(NSManagedObjectID(key), relationship.inverseSlot)
        }
      }
    }
    return targets.map { LinkedObject(object: $0.key, slots: $0.value) }
  }

  // MARK: Children's changes

  private func _rebased(
    _ entry: ChangeLayer.Entry, _ conflict: VersionConflict, _ object: NSManagedObject?
  ) -> Outcome {
    guard let persisted = conflict.persisted else {
      // The row is gone; the change has no base.
      if let object { context.links.showDeletedInStore(object) }
      return .gone
    }
    guard entry.kind != .deleted else {
      context.links.followDeletion(of: object ?? context.registry.objectOrFault(entry.id), over: persisted)
      return .rewritten(
        ChangeLayer.Entry(
          kind: .deleted, id: entry.id, base: persisted, row: nil, changed: SlotSet(), isWhole: false))
    }
    return .rewritten(CommitPass(context).written(entry, over: persisted))
  }

  // MARK: Constraints

  private func _conflict(_ violation: StoreConstraintError.Violation) -> NSConstraintConflict {
    let objects = violation.objects.map { id in
      let object = context.registry.objectOrFault(id)
      // The child's change becomes this context's own, so that the policy can work on it.
      if !object._flags.contains(.listed) { context.editing.markChanged(object) }
      return object
    }
    let isInUse =
      violation.existing.map { context.registry.registered(NSManagedObjectID($0.key)) != nil } ?? false
    let database = violation.existing.map { context.registry.object(for: $0.key) }
    database?.attachIfUnread(violation.existing?.row)
    let conflict = NSConstraintConflict(
      constraint: violation.constraint, database: database,
      databaseSnapshot: database.flatMap { database in
        violation.existing?.row.map { database.snapshot(of: $0) }
      },
      conflicting: objects,
      conflictingSnapshots: objects.map { object in
        (object._row ?? object._draft).map { object.snapshot(of: $0) } ?? [:]
      })
    conflict.existing = violation.existing
    conflict.databaseIsInUse = isInUse
    return conflict
  }
}

/// An object that a save links to without writing it.
struct LinkedObject {
  let object: NSManagedObject
  /// The other ends of the links.
  let slots: SlotSet

  /// What contexts that merge the save are told: they may have read the other ends before.
  var entry: ChangeLayer.Entry? {
    guard let row = object._row, !object._flags.contains(.deleted) else { return nil }
    // A copy: the same row would supersede nothing.
    let copy = Row(copying: row, version: row.version)
    return ChangeLayer.Entry(
      kind: .updated, id: object._objectID, base: copy, row: copy, changed: slots, isWhole: false)
  }
}

/// Resolves the conflict of one object that was changed both here and elsewhere.
struct VersionConflictResolver {
  private let _object: NSManagedObject
  private let _context: NSManagedObjectContext
  private let _persisted: Row?
  private let _type: NSMergePolicyType

  /// Nil if the object no longer belongs to a context.
  ///
  /// - Throws: Errors of reading the current row.
  init?(_ conflict: NSMergeConflict, _ type: NSMergePolicyType) throws {
    guard let context = conflict.sourceObject._context else { return nil }
    _object = conflict.sourceObject
    _context = context
    _persisted = try conflict.currentRow(in: context)
    _type = type
  }

  func resolve() {
    guard let persisted = _persisted else { return _resolveVanished() }
    let wasDeleted = _object._flags.contains(.deleted)
    if _type == .rollbackMergePolicyType || !_object.isDirty {
      _rollBack(to: persisted)
    } else if _object._flags.contains(.deleted) {
      // The deletion proceeds, rebased on the newer version.
      _context.links.followDeletion(of: _object, over: persisted)
    } else {
      _merge(persisted)
    }
    _object.awake(fromSnapshotEvents: .mergePolicy)
    // A deletion that is rolled back was announced.
    let isBack = wasDeleted && !_object._flags.contains(.deleted)
    _context.editing.recordEvent(_object, isBack ? .eventMergedInsert : .eventRefreshed)
  }

  /// Resolves a row deleted elsewhere: reinserts the object if local values win, otherwise deletes it.
  private func _resolveVanished() {
    guard _type == .mergeByPropertyObjectTrumpMergePolicyType || _type == .overwriteMergePolicyType,
      !_object._flags.contains(.deleted), _object.isDirty
    else {
      return _context.links.showDeletedInStore(_object)
    }
    _object.becomeInsertion()
    // The context may have announced the deletion, and registered the object again for a child's change.
    _context.editing.recordEvent(_object, .eventMergedInsert)
    _dropLostLinks()
  }

  /// Drops the links that went with the deleted row, and those to objects whose rows are gone, too: it may
  /// have been deleted with its owner.
  private func _dropLostLinks() {
    for slot in _object._layout.toManySlots {
      for target in _object.knownTargets(slot) { target._relations?.dropClean() }
    }
    _object._relations?.dropClean()
    _dropLinksToMissing(SlotSet(_object._layout.toOneSlots))
  }

  /// Drops the links of some to-ones to objects whose rows are gone.
  private func _dropLinksToMissing(_ slots: SlotSet) {
    guard let draft = _object._draft else { return }
    var links: [(slot: Int, key: ObjectKey)] = []
    for slot in _object._layout.toOneSlots where slots.contains(slot) {
      // A target that the save writes is inserted again as well, or reported as gone.
      guard let key = draft[slot].key, key != _object._key,
        _context.registry.registered(in: draft[slot])?._flags.isDisjoint(with: [.inserted, .written]) ?? true
      else { continue }
      links.append((slot, key))
    }
    // If the store cannot be read now, the save will report it.
    guard !links.isEmpty, let rows = try? _context.persistentStoreCoordinator?.rows(for: links.map(\.key))
    else { return }
    for ((slot, _), row) in zip(links, rows) where row == nil { _object.link(slot, to: nil) }
  }

  /// Drops the local changes; the object shows the stored row.
  private func _rollBack(to persisted: Row) {
    _cutOwnTargets { _ in true }
    _rereadFormerOwners { _ in true }
    _context.links.rereadInverses(_object._layout, from: _object._row, to: persisted)
    _object.dropChanges(showing: persisted)
    PublishPass(_context).withdraw(_object)
  }

  /// Updates a row that was to be inserted again, but another context has done so before.
  private func _joinInsertion(_ persisted: Row) {
    let slots = _object._layout.slots
    let local = _object._draft ?? persisted
    var changed = SlotSet(
      slots.indices.filter { !slots[$0].isToMany && !slots[$0].isTransient && local[$0] != persisted[$0] })
    for slot in _object._layout.toManySlots where _object._relations?.members(slot)?.hasChanges ?? false {
      changed.insert(slot)
    }
    let draft = local.rebased(onto: persisted, changed.union(_object._layout.transientSlots), _object._layout)
    _object.becomeUpdate(of: persisted, draft: draft, changed: changed)
    _object._relations?.dropClean()
    _context.editing.markChanged(_object)
  }

  private func _merge(_ persisted: Row) {
    if _object.isInserted { return _joinInsertion(persisted) }
    guard let base = _object._row, let local = _object._draft else {
      // Only to-many members changed locally; rebase them on the stored row.
      return _object.rebaseMembers(on: persisted)
    }
    let slots = _object._layout.slots
    var changed = SlotSet()
    var dropped = SlotSet()
    // Written again although they are not changed here.
    var restored = SlotSet()
    for slot in slots.indices where !slots[slot].isToMany && !slots[slot].isTransient {
      let isMine = local[slot] != base[slot]
      let isTheirs = persisted[slot] != base[slot]
      let takesMine =
        switch _type {
        case .overwriteMergePolicyType: true
        case .mergeByPropertyStoreTrumpMergePolicyType: isMine && !isTheirs
        default: isMine
        }
      if isMine, !takesMine { dropped.insert(slot) }
      if takesMine, local[slot] != persisted[slot] {
        changed.insert(slot)
        if !isMine { restored.insert(slot) }
      }
    }
    let row = local.rebased(onto: persisted, changed.union(_object._layout.transientSlots), _object._layout)
    _cutOwnTargets { dropped.contains($0) }
    _rereadFormerOwners { dropped.contains($0) }
    _context.links.rereadInverses(_object._layout, from: base, to: persisted)
    for slot in _object._layout.toManySlots where _object._relations?.members(slot)?.hasChanges ?? false {
      changed.insert(slot)
    }
    _object.resolve(over: persisted, draft: row, changed: changed)
    if !restored.isEmpty { _dropLinksToMissing(restored) }
  }

  /// Rereads the one-to-manys from which a dropped change, of the object's to-one or its deletion, has removed
  /// it; see `restoreLinks(of:)` for many-to-manys.
  private func _rereadFormerOwners(_ isDropped: (Int) -> Bool) {
    // Without a change in the owner's to-many that may still have been read while the object was away: a
    // child's removal is none of this context's.
    func reread(_ owner: NSManagedObject, _ slot: Int, wasAway: Bool = false) {
      guard let state = owner._relations?.members(slot), wasAway || state.changes[_object] != nil else {
        return
      }
      state.forget([_object])
      state.unrealise()
    }
    for slot in _object._layout.slots.indices where isDropped(slot) {
      guard let relationship = _object._layout.slots[slot].relationship,
        let inverse = relationship.inverseSlot
      else { continue }
      if !relationship.isToMany, let base = _object._row,
        let owner = _context.registry.registered(in: base[slot]), owner._layout.slots[inverse].isToMany
      {
        let isAway =
          _object._flags.contains(.deleted) || _object._draft.map { $0[slot] != base[slot] } ?? false
        reread(owner, inverse, wasAway: isAway)
      }
    }
  }

  /// Removes the object from the to-manys of its dropped to-one changes.
  private func _cutOwnTargets(_ isDropped: (Int) -> Bool) {
    guard let local = _object._draft, let base = _object._row else { return }
    for slot in _object._layout.toOneSlots where isDropped(slot) && local[slot] != base[slot] {
      guard let inverse = _object._layout.slots[slot].relationship?.inverseSlot else { continue }
      if let state = _context.registry.registered(in: local[slot])?._relations?.members(inverse),
        state.knows(_object)
      {
        state.set(_object, isMember: false)
      }
    }
  }
}
