import CoreDataModelSchema
import Foundation

/// Merges objects that violate a uniqueness constraint into one.
///
/// A new object whose values win takes over the identity of a stored row, unless the program references the
/// row's own object; then that object survives and the new one is dropped. A new object whose values lose is
/// dropped: it stays a fault without a context, which shows nothing, so that programs can tell it from those
/// that were inserted. The survivor takes over the relationships of the dropped object.
struct ConstraintConflictResolver {
  private let _conflict: NSConstraintConflict
  private let _context: NSManagedObjectContext
  private let _type: NSMergePolicyType

  /// Whether local values overwrite stored ones.
  private var _localWins: Bool {
    _type == .mergeByPropertyObjectTrumpMergePolicyType || _type == .overwriteMergePolicyType
  }

  /// Nil if no object of the conflict belongs to a context any longer.
  init?(_ conflict: NSConstraintConflict, _ type: NSMergePolicyType) {
    guard let context = conflict.conflictingObjects.lazy.compactMap({ $0._context }).first else { return nil }
    _conflict = conflict
    _context = context
    _type = type
  }

  func resolve() {
    let objects = _conflict.conflictingObjects.filter { $0._context === _context && !$0.isDeleted }
    if let database = _conflict.databaseObject {
      _resolve(objects, against: database)
    } else {
      _resolve(among: objects)
    }
  }

  // MARK: Against a stored row

  private func _resolve(_ objects: [NSManagedObject], against database: NSManagedObject) {
    let new = objects.filter(\.isInserted)
    for object in objects where !object.isInserted {
      if _localWins {
        // Two stored rows collide; the one changed locally stays.
        _fold(database, into: object, withValues: false)
        _context.markDeletedAsMerged(database)
        _conflict.survivor = object
      } else {
        _rollBack(object)
      }
    }
    guard !new.isEmpty else { return }
    if _localWins, !_conflict.databaseIsInUse, objects.count == new.count, let last = new.last,
      let existing = _conflict.existing,
      _becomes(last, existing, database)
    {
      for object in new.dropLast() {
        _fold(object, into: last, withValues: false)
        _context.annihilate(object, as: last, showingValues: true)
      }
      _conflict.survivor = last
      return
    }
    let survivor = _conflict.survivor ?? database
    for object in new {
      _fold(object, into: survivor, withValues: _localWins)
      _context.annihilate(object, as: survivor, showingValues: _localWins)
    }
    _conflict.survivor = survivor
  }

  /// Gives a new object the identity of a stored row.
  ///
  /// - Returns: False if the object has a permanent ID already or is of another entity.
  private func _becomes(_ object: NSManagedObject, _ existing: StoredObject, _ database: NSManagedObject)
    -> Bool
  {
    guard let row = existing.row, object._objectID.permanent == nil, database._layout === object._layout,
      let local = object._draft
    else { return false }
    let slots = object._layout.slots
    var changed = SlotSet()
    for slot in slots.indices where !slots[slot].isToMany && !slots[slot].isTransient {
      if !_takes(slot, of: object) {
        _leave(slot, of: object)
      } else if local[slot] != row[slot] {
        changed.insert(slot)
      }
    }
    let draft = local.rebased(onto: row, changed.union(object._layout.transientSlots), object._layout)
    _context.table.remove(database)
    database.leaveContextWithLinks()
    _context.table.remove(object)
    object._objectID.link(to: NSManagedObjectID(existing.key))
    object.adoptPermanentID()
    object.becomeUpdate(of: row, draft: draft, changed: changed)
    _context.table.insert(object)
    _context.table.follow(linkOf: object)
    for slot in object._layout.toManySlots {
      guard let state = object._relations?.members(slot) else { continue }
      // Until now it had only its own members; reread to include the row's.
      state.unrealise()
      if state.hasChanges { changed.insert(slot) }
    }
    object.markAssigned(changed)
    if let relations = object._relations {
      relations.forgetDecoded()
      relations.dropTargets()
    }
    object.awake(fromSnapshotEvents: .mergePolicy)
    _context.editing.markChanged(object)
    return true
  }

  /// Whether the value of a new object that wins overwrites the row's: if it was assigned.
  private func _takes(_ slot: Int, of object: NSManagedObject) -> Bool {
    _type == .overwriteMergePolicyType || object._changed.contains(slot)
  }

  /// Cuts the other end of a dropped to-one.
  private func _leave(_ slot: Int, of object: NSManagedObject) {
    guard let inverse = object._layout.slots[slot].relationship?.inverseSlot, let target = object.toOne(slot)
    else {
      return
    }
    target.inverseWasCut(inverse, object)
  }

  private func _rollBack(_ object: NSManagedObject) {
    for slot in object._layout.toOneSlots where object._changed.contains(slot) { _leave(slot, of: object) }
    object.dropChanges(showing: object._row)
    object.awake(fromSnapshotEvents: .mergePolicy)
    _context.editing.recordEvent(object, .eventRefreshed)
  }

  // MARK: Within the context

  private func _resolve(among objects: [NSManagedObject]) {
    let stored = objects.filter { !$0.isInserted }
    guard
      let survivor = _localWins ? stored.last ?? objects.last : stored.first ?? objects.first
    else { return }
    for object in objects where object !== survivor {
      if object.isInserted {
        _fold(object, into: survivor, withValues: _localWins && !survivor.isInserted)
        _context.annihilate(object, as: survivor, showingValues: _localWins)
      } else if _localWins {
        _fold(object, into: survivor, withValues: false)
        _context.markDeletedAsMerged(object)
      } else {
        _rollBack(object)
      }
    }
    _conflict.survivor = survivor
  }

  // MARK: Merging relationships

  /// Moves one object's relationships, and optionally its assigned values, to another.
  private func _fold(_ loser: NSManagedObject, into survivor: NSManagedObject, withValues: Bool) {
    let slots = loser._layout.slots
    for slot in slots.indices {
      guard slot < survivor._layout.slots.count, survivor._layout.slots[slot].owner == slots[slot].owner,
        !slots[slot].isHidden
      else { continue }
      let isTaken = withValues && (_type == .overwriteMergePolicyType || loser._changed.contains(slot))
      guard let relationship = slots[slot].relationship else {
        if isTaken, !slots[slot].isTransient { survivor.write(loser.read(slot), at: slot) }
        continue
      }
      if relationship.isToMany {
        for member in loser.members(slot).list {
          loser.removeMember(member, slot)
          survivor.addMember(member, slot)
        }
      } else {
        let target = loser.toOne(slot)
        loser.setToOne(slot, nil)
        if isTaken { survivor.setToOne(slot, target) }
      }
    }
    survivor._relations?.forgetDecoded()
  }
}

extension NSManagedObjectContext {
  /// Undoes the insertion of an object that was merged into another. It becomes a fault without a context.
  ///
  /// - Parameter showsValues: Whether the fault shows the assigned values to callers which still hold it;
  ///   otherwise it stays a fault, and reads as an object that cannot be read.
  final func annihilate(
    _ object: NSManagedObject, as other: NSManagedObject, showingValues showsValues: Bool
  ) {
    editing.markDeleted(object, as: .settled)
    processPendingChanges()
    object.leaveContextWithLinks()
    let values = object._current
    object.turnIntoFault(keeping: showsValues ? values : nil)
    if !showsValues { _ = object._state.fail() }
    let survivor = other._objectID.canonical
    if !survivor.isTemporary, object._objectID.permanent == nil {
      object._objectID.link(to: survivor)
      table.follow(linkOf: object)
      object.adoptPermanentID()
    }
    if saving.recordsMergedInsertions { saving.mergedInsertions.append((object, other)) }
  }

  /// Whether the context keeps what `takeMergedInsertions()` returns.
  package final var recordsMergedInsertions: Bool {
    get { saving.recordsMergedInsertions }
    set { saving.recordsMergedInsertions = newValue }
  }

  /// Returns the new objects that saves have merged into others because of a uniqueness constraint, each with
  /// the object that has its values now, in order, and forgets them.
  package final func takeMergedInsertions() -> [(object: NSManagedObject, survivor: NSManagedObject)] {
    defer { saving.mergedInsertions = [] }
    return saving.mergedInsertions
  }

  /// Deletes a stored object after another one has taken over its relationships.
  final func markDeletedAsMerged(_ object: NSManagedObject) {
    if object.isFault, object._row == nil {
      do {
        _ = try FaultPass(self).load(object)
      } catch {
        failedReads.fail(
          object, "merge '\(object.objectID.uriRepresentation().absoluteString)' into another object", error)
      }
    }
    editing.markDeleted(object, as: .settled)
  }
}
