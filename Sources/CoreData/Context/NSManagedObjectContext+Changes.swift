import CoreDataModelSchema
import Foundation

// Inserting, changing, deleting, and announcing it.

extension NSManagedObjectContext {
  // MARK: Inserting

  final func insertObject(_ object: NSManagedObject) {
    if object._context === self { return insertAgain(object) }
    if let other = object._context {
      programmerError("an object of \(other.label) cannot be inserted into \(label).")
    }
    if !owns(object._entity, object._layout) {
      programmerError(
        "entity '\(object._layout.entityName)' is not of the model that \(label) works with. Take the entity from "
          + "NSEntityDescription.entity(forEntityName:in:).")
    }
    undoRecorder?.willChange(object, isAlive: false)
    object._context = self
    object.willChangeState()
    _ = object.ownDraft()
    object._flags.remove([.fault, .deleted, .deletePropagated])
    object._flags.formUnion([.inserted, .listed, .eventInserted, .eventListed, .unpublished, .touchedInSave])
    if isChecked { object._flags.insert(.checked) }
    if recordsReads { object._flags.insert(.recordsReads) }
    object._relations?.forEachToMany { slot, _ in
      knownMemberKinds.insert(object._layout.slots[slot].relationship!.destination)
    }
    table.insert(object)
    listed.append(object)
    hasPendingInsertions = true
    eventList.append(object)
    overlay.markStale()
    scheduleFlush()
    object.awakeFromInsert()
  }

  /// Announces an object that is here already as inserted, now and with the next save, as Core Data does.
  private final func insertAgain(_ object: NSManagedObject) {
    if object._flags.contains(.deleted) { return }
    if !object._flags.contains(.inserted) { object._flags.formUnion([.updated, .reinserted]) }
    object._flags.insert(.eventInserted)
    _list(object)
  }

  /// Whether an entity is of the model that the context works with, or there is none.
  private final func owns(_ entity: NSEntityDescription, _ layout: PropertyLayout) -> Bool {
    if _frozen == nil, frozen == nil { return true }
    let entities = _frozen.unsafelyUnwrapped.entities
    return layout.entityNumber <= entities.count && entities[layout.entityNumber - 1] === entity
  }

  // MARK: Changing

  /// Records an object as changed; cheap if it is recorded already.
  final func markChanged(_ object: NSManagedObject) {
    let flags = object._flags
    if flags.isRecordedAsChanged { return }
    if flags.isDisjoint(with: [.inserted, .deleted]) { object._flags.insert(.updated) }
    if !flags.contains(.eventInserted) { object._flags.insert(.eventUpdated) }
    _list(object)
  }

  /// Puts an object on the lists of what is unsaved and what is unannounced.
  private final func _list(_ object: NSManagedObject) {
    if !object._flags.contains(.listed) { listed.append(object) }
    if !object._flags.contains(.eventListed) { eventList.append(object) }
    object._flags.formUnion(.listedEverywhere)
    overlay.markStale()
    scheduleFlush()
  }

  /// Lists an object for the next announcement only.
  final func recordEvent(_ object: NSManagedObject, _ flag: ObjectFlags) {
    object._flags.insert(flag)
    if !object._flags.contains(.eventListed) {
      object._flags.insert(.eventListed)
      eventList.append(object)
    }
  }

  // MARK: Deleting

  final func deleteObject(_ object: NSManagedObject) {
    guard let context = object._context else { return }
    guard context === self else {
      programmerError(
        "an attempt to delete an object of \(context.label) in \(label). Delete this context's own object: "
          + "object(with: other.objectID).")
    }
    object.prepareForDeletion()
    guard !object._flags.contains(.deleted) else { return }
    markDeleted(object)
    unpropagatedDeletions.append(object)
  }

  final func markDeleted(_ object: NSManagedObject) {
    object.willChangeState()
    object._flags.insert([.deleted])
    hasPendingDeletions = true
    object._flags.insert(.eventDeleted)
    _list(object)
  }

  /// Applies the delete rules of everything deleted since the last time.
  final func propagateDeletions() {
    while !unpropagatedDeletions.isEmpty {
      let batch = unpropagatedDeletions
      unpropagatedDeletions = []
      for object in batch where object._flags.contains(.deleted) && !object._flags.contains(.deletePropagated)
      {
        object._flags.insert(.deletePropagated)
        propagate(deletionOf: object)
      }
    }
  }

  private final func propagate(deletionOf object: NSManagedObject) {
    // There is nothing left to follow.
    if isGone(object) { return }
    for (number, slot) in object._layout.slots.enumerated() {
      guard let relationship = slot.relationship else { continue }
      guard relationship.deleteRule == .nullify || relationship.deleteRule == .cascade else { continue }
      for other in object.targets(number) where !other._flags.contains(.deletePropagated) {
        // Cutting a to-one fires the fault, and an ancestor may have deleted the member since the members were read.
        if let inverse = relationship.inverseSlot, !other._layout.slots[inverse].isToMany, isGone(other) {
          continue
        }
        if relationship.deleteRule == .cascade, !other._flags.contains(.deleted) { deleteObject(other) }
        if let inverse = relationship.inverseSlot { other.inverseWasCut(inverse, object) }
      }
    }
  }

  /// Whether an object is a fault whose row an ancestor, or another context, has deleted.
  private final func isGone(_ object: NSManagedObject) -> Bool {
    object.isFault && object._row == nil && !object._flags.contains(.inserted) && (try? load(object)) != true
  }

  // MARK: Announcing

  final func processChanges() {
    guard !isFlushing else { return }
    isFlushing = true
    if propagatesDeletesAtEndOfEvent || isSaving { propagateDeletions() }
    guard !eventList.isEmpty else {
      isFlushing = false
      publishIfStale()
      if !unseenMerges.isEmpty { tellObservers(EventSets()) }
      return
    }
    let objects = eventList
    eventList = []
    var sets = spareEventSets.take() ?? EventSets()
    // Most often all are of one kind, and the first one tells.
    if objects.count > 8 {
      if !objects[0]._flags.isDisjoint(with: [.eventInserted, .eventMergedInsert]) {
        sets.inserted.reserveCapacity(objects.count)
      } else if objects[0]._flags.contains(.eventUpdated) {
        sets.updated.reserveCapacity(objects.count)
      }
    }
    var isOwn = true
    objects.forEachHeld { object in
      let flags = object._flags
      if flags.contains(.eventMergedInsert) { isOwn = false }
      object._flags.subtract(.event)
      if flags.contains(.eventDeleted) {
        sets.deleted.insert(object)
      } else if !flags.isDisjoint(with: [.eventInserted, .eventMergedInsert]) {
        sets.inserted.insert(object)
        object._flags.insert(.toldInserted)
      } else {
        if flags.contains(.eventRefreshed) { sets.refreshed.insert(object) }
        if flags.contains(.eventUpdated) { sets.updated.insert(object) }
      }
      if flags.contains(.listed), !flags.contains(.deleted) { pendingIndex.add(object) }
    }
    publishIfStale()
    // Told while everything that the objects pointed at can still be looked up.
    let undoable = drainUndoableChanges()
    for object in sets.deleted where object._flags.isSuperset(of: [.inserted, .deleted]) {
      // Inserted and deleted before any save: it never was.
      unlist(object)
      table.remove(object)
      object._flags.subtract([.inserted, .updated])
    }
    isFlushing = false
    announcedUnsaved = isOwn && sets.holdsAll(listed) ? sets : nil
    registerUndo(undoable)
    sets.post(by: self)
    if announcedUnsaved == nil, objects.count <= 16 {
      sets.removeAll()
      spareEventSets = sets
    }
  }

  /// Takes an object off the list of unsaved ones.
  final func unlist(_ object: NSManagedObject) {
    guard object._flags.contains(.listed) else { return }
    object._flags.remove([.listed, .unpublished])
    listed.removeAll { $0 === object }
  }
}

/// The sets of one ObjectsDidChange.
struct EventSets {
  var inserted = Set<NSManagedObject>()
  var updated = Set<NSManagedObject>()
  var deleted = Set<NSManagedObject>()
  var refreshed = Set<NSManagedObject>()

  /// Whether the inserted and updated objects are all of these, given that each of them is one.
  func holdsAll(_ listed: [NSManagedObject]) -> Bool {
    deleted.isEmpty && refreshed.isEmpty && inserted.count + updated.count == listed.count
  }

  /// Empties the sets, keeping their storage. Copies handed out are not affected.
  mutating func removeAll() {
    if !inserted.isEmpty { inserted.removeAll(keepingCapacity: true) }
    if !updated.isEmpty { updated.removeAll(keepingCapacity: true) }
    if !deleted.isEmpty { deleted.removeAll(keepingCapacity: true) }
    if !refreshed.isEmpty { refreshed.removeAll(keepingCapacity: true) }
  }

  /// The members of all sets; of one, where the others are empty, that one.
  var all: Set<NSManagedObject> {
    [updated, deleted, refreshed].reduce(inserted) { all, set in
      all.isEmpty ? set : set.isEmpty ? all : all.union(set)
    }
  }

  /// Which of the sets have members, a bit each, and whether a merge has filled them.
  private func _combination(merged isMerged: Bool) -> Int {
    (inserted.isEmpty ? 0 : 1) | (updated.isEmpty ? 0 : 2) | (deleted.isEmpty ? 0 : 4)
      | (refreshed.isEmpty ? 0 : 8) | (isMerged ? 16 : 0)
  }

  func post(by context: NSManagedObjectContext) {
    if ObservedObjects.exist.load(ordering: .relaxed) {
      for object in updated { object.notifyChangesSinceRead() }
      for object in refreshed { object.notifyChangesSinceRead() }
      for object in deleted { object.notifyAllReads() }
    }
    context.tellObservers(self)
    let combination = _combination(merged: context.isMerging)
    // Taken while it is in use: an observer's own change is announced with another.
    var userInfo = context.changeUserInfos[combination] ?? ChangeUserInfo(combination, context)
    context.changeUserInfos[combination] = nil
    userInfo.fill(self)
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: context, userInfo: userInfo.dictionary)
    userInfo.clear()
    context.changeUserInfos[combination] = userInfo
  }
}
