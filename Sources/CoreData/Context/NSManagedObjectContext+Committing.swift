import Foundation
import ModelSchema

// A root context's save into the stores, and what happens when they have moved on.

extension NSManagedObjectContext {
  /// Writes the entries in one transaction of each store, settling conflicts as the merge policy says.
  ///
  /// - Returns: The entries as written.
  final func commit(_ entries: [Layer.Entry]) throws -> [Layer.Entry] {
    guard let coordinator = persistentStoreCoordinator else {
      if entries.isEmpty { return entries }
      throw CocoaError.coreData(
        NSCoreDataError, "\(label) has neither coordinator nor parent; there is nowhere to save to.")
    }
    var entries = withoutLost(entries)
    var attempts = 0
    while true {
      do {
        try coordinator.commit(entries, locked: lockedObjects)
        return entries
      } catch let error as StoreConflictError {
        attempts += 1
        guard attempts < 100 else {
          throw CocoaError.coreData(
            NSManagedObjectMergeError, "The save met new conflicts 100 times in a row; other writers are too busy on the same "
              + "rows. Try again later.")
        }
        entries = try resolve(error.conflicts, in: entries)
      } catch let error as StoreConstraintError {
        throw constraintError(error)
      }
    }
  }

  /// The policy in force; anything that is no policy counts as the default.
  final var policy: NSMergePolicy { mergePolicy as? NSMergePolicy ?? .error }

  // MARK: Version conflicts

  /// The entries with every conflict settled, or an error that lists them all.
  private final func resolve(_ conflicts: [VersionConflict], in entries: [Layer.Entry]) throws -> [Layer.Entry] {
    var byKey: [ObjectTable.Key: VersionConflict] = [:]
    for conflict in conflicts { byKey[ObjectTable.Key(conflict.id)] = conflict }
    var result: [Layer.Entry] = []
    var unresolved = settleLocks(conflicts, beside: entries)
    var gone: [NSManagedObjectID] = []
    for entry in entries {
      guard let conflict = byKey[ObjectTable.Key(entry.id)] else {
        result.append(entry)
        continue
      }
      if entry.kind == .deleted, conflict.persisted == nil {
        // Deleted by somebody else already: as wanted.
        continue
      }
      let object = table.object(for: entry.id)
      let isOwn = object?._flags.contains(.listed) ?? false
      // A change that a child made to an object this context never looked at is laid over whatever the store has, as if
      // it had been read when the child saved.
      let type = isOwn ? policy.mergeType : .mergeByPropertyObjectTrumpMergePolicyType
      if type == .errorMergePolicyType {
        unresolved.append(NSMergeConflict(conflict, object: object ?? self.object(with: entry.id)))
        continue
      }
      if conflict.persisted == nil { gone.append(entry.id) }
      if let settled = settled(entry, conflict, by: type, object: object) { result.append(settled) }
    }
    guard unresolved.isEmpty else {
      throw CocoaError.coreData(
        NSManagedObjectMergeError,
        "The save would overwrite changes made elsewhere to \(unresolved.count) object(s) since they were read. Refresh them "
          + "and save again, or set a merge policy.",
        [NSPersistentStoreSaveConflictsErrorKey: unresolved])
    }
    return gone.isEmpty ? result : withoutReferences(to: gone, in: result)
  }

  /// One conflicting entry made to fit what the store has now; nil if nothing is left to write.
  private final func settled(
    _ entry: Layer.Entry, _ conflict: VersionConflict, by type: NSMergePolicyType, object: NSManagedObject?
  ) -> Layer.Entry? {
    guard let persisted = conflict.persisted else {
      // The row is gone; there is nothing to lay the change over.
      if let object { markVanished(object) }
      return nil
    }
    if entry.kind == .deleted {
      guard type != .rollbackMergePolicyType else {
        if let object { takeBack(object, persisted) }
        return nil
      }
      return Layer.Entry(
        kind: .deleted, id: entry.id, base: persisted, row: nil, changed: SlotSet(), isWhole: false)
    }
    guard type != .rollbackMergePolicyType, let local = entry.row else {
      if let object { takeBack(object, persisted) }
      return nil
    }
    let layout = entry.id.space.layout
    let row = Row(copying: persisted, version: persisted.version + 1)
    var changed = SlotSet()
    for slot in layout.slots.indices {
      if layout.slots[slot].isToMany {
        if entry.changed.contains(slot) {
          row.set(local[slot], at: slot)
          changed.insert(slot)
        }
        continue
      }
      let isMine = entry.changed.contains(slot)
      let isTheirs = conflict.base[slot] != persisted[slot]
      let takesMine =
        switch type {
        case .overwriteMergePolicyType: true
        case .mergeByPropertyStoreTrumpMergePolicyType: isMine && !isTheirs
        default: isMine
        }
      guard takesMine, local[slot] != persisted[slot] else { continue }
      row.set(local[slot], at: slot)
      changed.insert(slot)
    }
    rereadInverses(layout, from: conflict.base, to: persisted)
    if let object {
      object._row = persisted
      object._draft = row
      object._changed = changed
      object._flags.formUnion([.draftShared, .written])
      object._relations?.dropTargets()
      object.awake(fromSnapshotEvents: .mergePolicy)
    }
    if changed.isEmpty {
      object?._flags.remove(.written)
      object?._draft = nil
      return nil
    }
    return Layer.Entry(
      kind: .updated, id: entry.id, base: persisted, row: row, changed: changed, isWhole: false)
  }

  /// The local changes are dropped; the object shows what the store has.
  private final func takeBack(_ object: NSManagedObject, _ persisted: Row) {
    object._row = persisted
    object._draft = nil
    object._changed = SlotSet()
    object._relations = nil
    object._flags.subtract([.updated, .deleted, .deletePropagated, .adopted, .draftShared, .written])
    object.awake(fromSnapshotEvents: .mergePolicy)
  }

  /// The row was deleted elsewhere: the object follows.
  private final func markVanished(_ object: NSManagedObject) {
    object._flags.formUnion([.deleted, .deletePropagated])
    object._flags.subtract([.updated, .written])
  }

  // MARK: Constraints

  private final func constraintError(_ error: StoreConstraintError) -> CocoaError {
    let conflicts = error.violations.map { violation in
      NSConstraintConflict(
        constraint: violation.constraint, database: violation.existing.map { object(for: $0) },
        databaseSnapshot: nil, conflicting: violation.objects.map { object(with: $0) }, conflictingSnapshots: [])
    }
    let names = error.violations.map { $0.constraint.joined(separator: ", ") }
    return CocoaError.coreData(
      NSManagedObjectConstraintMergeError,
      "The save would break a uniqueness constraint on \(Set(names).sorted().joined(separator: "; ")). Change the values, or "
        + "update the existing objects instead of inserting new ones.",
      [NSPersistentStoreSaveConflictsErrorKey: conflicts])
  }

  // MARK: Permanent IDs

  /// Gives objects permanent IDs before they are saved; objects that have one are left alone.
  ///
  /// - Throws: A Cocoa error if no store takes the entity or the store cannot be written.
  public final func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
    checkQueue()
    let temporary = objects.filter { $0._objectID.isTemporaryID && $0._objectID.permanent == nil }
    if !temporary.isEmpty {
      guard let coordinator = persistentStoreCoordinator else {
        throw CocoaError.coreData(NSCoreDataError, "\(label) has no coordinator to obtain permanent IDs from.")
      }
      try coordinator.obtainPermanentIDs(for: temporary.map(\._objectID))
    }
    for object in objects {
      if let id = object._id, id.isTemporaryID, let permanent = id.permanent {
        // Looking it up files it under the new ID first.
        _ = table.object(for: permanent)
        object._id = permanent
      }
    }
  }
}
