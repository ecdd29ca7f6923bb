import CoreDataModelSchema
import Foundation

// Inserting, changing and deleting objects, and announcing the changes.

extension NSManagedObjectContext {
  // MARK: Inserting

  final func insertObject(_ object: NSManagedObject) {
    if object._context === self { return _insertAgain(object) }
    if let other = object._context {
      programmerError("an object of \(other.label) cannot be inserted into \(label).")
    }
    if !_owns(object._entity, object._layout) {
      programmerError(
        "entity '\(object._layout.entityName)' is not of the model that \(label) works with. Take the entity from "
          + "NSEntityDescription.entity(forEntityName:in:).")
    }
    undoRecorder?.willChange(object, isAlive: false)
    object._context = self
    object.willChangeState()
    object.makeDraftOwn()
    object._state.insert(checked: isChecked, recordingReads: recordsReads)
    object._relations?.forEachToMany { slot, _ in
      readMembers.insert(kind: object._layout.slots[slot].relationship!.destination)
    }
    table.insert(object)
    unsaved.append(object)
    unsaved.hasInsertions = true
    events.changed.append(object)
    overlay.markStale()
    scheduleFlush()
    object.awakeFromInsert()
  }

  /// Reports a registered object as inserted, now and with the next save, as Core Data does.
  private final func _insertAgain(_ object: NSManagedObject) {
    if object._flags.contains(.deleted) { return }
    object._state.insertAgain()
    list(object)
  }

  /// Whether an entity belongs to the context's model, or the context has none.
  private final func _owns(_ entity: NSEntityDescription, _ layout: PropertyLayout) -> Bool {
    if memo.model == nil, frozen == nil { return true }
    let entities = memo.model.unsafelyUnwrapped.entities
    return layout.entityNumber <= entities.count && entities[layout.entityNumber - 1] === entity
  }

  // MARK: Changing

  /// Marks an object as changed. Cheap if it is marked already.
  @inline(__always)
  final func markChanged(_ object: NSManagedObject) {
    if object._flags.isRecordedAsChanged { return }
    object._state.change()
    list(object)
  }

  /// Adds an object to the lists of unsaved and unannounced objects.
  final func list(_ object: NSManagedObject) {
    if !object._flags.contains(.listed) { unsaved.append(object) }
    if !object._flags.contains(.eventListed) { events.changed.append(object) }
    object._state.list()
    overlay.markStale()
    scheduleFlush()
  }

  /// Lists an object for the next change notification only.
  final func recordEvent(_ object: NSManagedObject, _ flag: ObjectFlags) {
    if !object._flags.contains(.eventListed) { events.changed.append(object) }
    object._state.recordEvent(flag)
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
    events.deletions.append(object)
  }

  /// Applies the delete rules of all objects deleted since the last call.
  final func propagateDeletions() {
    while !events.deletions.isEmpty {
      var deletions = events.drainDeletions()[...]
      while !deletions.isEmpty {
        let some = deletions.prefix(ReadAhead.most)
        deletions = deletions.dropFirst(some.count)
        if some.count > 1 { PrefetchPass(self).readForRules(of: some.filter(_isToPropagate)) }
        for object in some where _isToPropagate(object) {
          object._state.finishPropagation()
          _propagate(deletionOf: object)
        }
      }
    }
  }

  private final func _isToPropagate(_ object: NSManagedObject) -> Bool {
    object._flags.contains(.deleted) && !object._flags.contains(.deletePropagated)
  }

  private final func _propagate(deletionOf object: NSManagedObject) {
    // Its row is gone: no relationships to follow.
    if isGone(object) { return }
    for slot in object._layout.followedSlots {
      guard let relationship = object.relationship(slot) else { continue }
      for other in object.targets(slot) where !other._flags.contains(.deletePropagated) {
        // Cutting a to-one fires the fault, and an ancestor may have deleted the member since the members
        // were read.
        if let inverse = relationship.inverseSlot, !other._layout.slots[inverse].isToMany, isGone(other) {
          continue
        }
        if relationship.deleteRule == .cascade, !other._flags.contains(.deleted) { deleteObject(other) }
        if let inverse = relationship.inverseSlot { other.inverseWasCut(inverse, object) }
      }
    }
    followedDeletions?.append(object)
  }

  /// Whether an object is a fault whose row has been deleted by an ancestor or another context. One that
  /// cannot be read is not gone: its rules are followed, which fires the fault and reports why.
  final func isGone(_ object: NSManagedObject) -> Bool {
    guard object.isFault, object._row == nil, !object._flags.contains(.inserted) else { return false }
    do {
      return try !FaultPass(self).load(object)
    } catch {
      return false
    }
  }

  // MARK: Announcing

  final func processChanges() {
    guard !events.isProcessing else { return }
    events.isProcessing = true
    if propagatesDeletesAtEndOfEvent || saving.isActive { propagateDeletions() }
    guard !events.changed.isEmpty else {
      events.isProcessing = false
      publishIfStale()
      if !events.unseenMerges.isEmpty { notifyObservers(EventSets()) }
      return
    }
    let objects = events.drainChanged()
    var sets = events.spareSets.take() ?? EventSets()
    // Usually all objects belong to one set; the first decides which set reserves capacity.
    if objects.count > 8 {
      if !objects[0]._flags.isDisjoint(with: [.eventInserted, .eventMergedInsert]) {
        sets.inserted.reserveCapacity(objects.count)
      } else if objects[0]._flags.contains(.eventDeleted) {
        sets.deleted.reserveCapacity(objects.count)
      } else if objects[0]._flags.contains(.eventUpdated) {
        sets.updated.reserveCapacity(objects.count)
      }
    }
    // Whether the sets hold this context's unsaved changes only, or those only that a child has saved.
    var isOwn = true
    var areAdopted = true
    objects.forEachUnretained { object in
      let flags = object._flags
      // A merge announces objects that this context has not changed.
      if flags.contains(.eventMergedInsert) || !flags.contains(.listed) { isOwn = false }
      if flags.contains(.listed) || !flags.contains(.adopted) { areAdopted = false }
      object._state.endEvent()
      if flags.contains(.eventDeleted) {
        sets.deleted.insert(object)
        object._state.announceDeletion()
      } else if !flags.isDisjoint(with: [.eventInserted, .eventMergedInsert]) {
        sets.inserted.insert(object)
        object._state.announceInsertion()
      } else {
        if flags.contains(.eventRefreshed) { sets.refreshed.insert(object) }
        if flags.contains(.eventUpdated) { sets.updated.insert(object) }
      }
      if flags.contains(.listed), !flags.contains(.deleted) { unsaved.index.add(object) }
    }
    if let recorder = TraceRecorder.current { recordChanges(of: objects, by: recorder) }
    publishIfStale()
    // Must be drained while all targets of the objects can still be looked up.
    let undoable = drainUndoableChanges()
    for object in sets.deleted where object._flags.isSuperset(of: [.inserted, .deleted]) {
      // Inserted and deleted between two saves: no change at all.
      unlist(object)
      table.remove(object)
      object._state.cancelInsertion()
      isOwn = false
    }
    events.isProcessing = false
    let areAllUnsaved =
      isOwn && sets.holdsAll(unsaved.count) || areAdopted && unsaved.isEmpty && _areAllAdopted(sets)
    events.announced = areAllUnsaved ? sets : nil
    registerUndo(undoable)
    sets.post(by: self)
    if events.announced == nil, objects.count <= 16 {
      sets.removeAll()
      events.spareSets = sets
    }
  }

  /// Whether sets hold as many objects as one child has saved into this context, and nothing else is unsaved.
  private final func _areAllAdopted(_ sets: EventSets) -> Bool {
    let layers = overlay.layers
    return layers.count == 1 && sets.holdsAll(layers[0].entries.count)
  }

  /// Removes an object from the list of unsaved objects.
  final func unlist(_ object: NSManagedObject) {
    guard object._flags.contains(.listed) else { return }
    object._state.unlist()
    unsaved.remove(object)
  }
}

/// The sets of one ObjectsDidChange notification.
struct EventSets {
  var inserted = Set<NSManagedObject>()
  var updated = Set<NSManagedObject>()
  var deleted = Set<NSManagedObject>()
  var refreshed = Set<NSManagedObject>()

  /// Whether these sets hold all listed objects, given that each of their objects is listed.
  func holdsAll(_ listedCount: Int) -> Bool {
    refreshed.isEmpty && inserted.count + updated.count + deleted.count == listedCount
  }

  /// Empties the sets but keeps their storage. Does not affect copies that callers hold.
  mutating func removeAll() {
    if !inserted.isEmpty { inserted.removeAll(keepingCapacity: true) }
    if !updated.isEmpty { updated.removeAll(keepingCapacity: true) }
    if !deleted.isEmpty { deleted.removeAll(keepingCapacity: true) }
    if !refreshed.isEmpty { refreshed.removeAll(keepingCapacity: true) }
  }

  /// The union of all sets. Returns a set itself if the others are empty.
  var all: Set<NSManagedObject> {
    [updated, deleted, refreshed].reduce(inserted) { all, set in
      all.isEmpty ? set : set.isEmpty ? all : all.union(set)
    }
  }

  /// Bit mask of the non-empty sets, and of whether a merge filled them.
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
    context.notifyObservers(self)
    let combination = _combination(merged: context.events.isMerge)
    // Removed while in use: a change made by an observer posts with another dictionary.
    var userInfo = context.events.userInfos[combination] ?? ChangeUserInfo(combination, context)
    context.events.userInfos[combination] = nil
    userInfo.fill(self)
    NotificationCenter.default.post(
      name: .NSManagedObjectContextObjectsDidChange, object: context, userInfo: userInfo.dictionary)
    userInfo.clear()
    context.events.userInfos[combination] = userInfo
  }
}
