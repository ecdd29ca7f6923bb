import CoreDataModelSchema
import Foundation

/// What follows once a save is stored, or a parent has it: the saved objects, and who is told.
struct FinishPass {
  let context: NSManagedObjectContext

  init(_ context: NSManagedObjectContext) { self.context = context }

  /// User info key of the history token in did-save notifications, as Core Data spells it.
  static let changeTokenKey = "newChangeToken"

  /// Makes the saved values each object's saved state, then notifies observers.
  ///
  /// - Parameter layer: The layer that the parent has adopted; nil for a save into stores.
  func run(_ entries: [ChangeLayer.Entry], as layer: ChangeLayer?) {
    let hasDeletions = context.unsaved.hasDeletions
    let own = context.unsaved.drain()
    let hadAdopted = !context.overlay.layers.isEmpty
    let discarded = hadAdopted ? _unsavedEntries(entries, own, hasDeletions) : []
    context.overlay.clear()
    context.overlay.markFresh(upTo: context.overlay.noted)
    context.overlay.forgetUncounted()
    context.discard(discarded)
    context.saving.retained = own
    if let layer, hadAdopted, own.isEmpty, let sets = _consumeAdopted(layer) {
      return _announce(
        sets, layer.ids, SavedChanges(entries, isStored: false, context: context), hasHooks: layer.hasHooks)
    }
    let announced = _consumeAnnounced(own, hadAdopted)
    var sets = announced ?? EventSets()
    if announced == nil {
      sets.inserted.reserveCapacity(entries.count(where: { $0.kind == .inserted }))
      sets.updated.reserveCapacity(entries.count(where: { $0.kind == .updated }))
      sets.deleted.reserveCapacity(entries.count(where: { $0.kind == .deleted }))
    }
    var unwritten: [ChangeLayer.Entry] = []
    own.forEachUnretained { object in
      guard object.isDirty else { return }
      if object._flags.contains(.deleted) {
        if announced == nil, !object._flags.contains(.inserted) { sets.deleted.insert(object) }
      } else if object._flags.contains(.inserted) {
        if announced == nil { sets.inserted.insert(object) }
      } else {
        if object._flags.contains(.reinserted) {
          sets.inserted.insert(object)
        } else if announced == nil {
          sets.updated.insert(object)
        }
        // Writes nothing, but is reported like the others: a child may have read the change that was reverted
        // here.
        if !object._flags.contains(.written), let row = object._row {
          unwritten.append(
            ChangeLayer.Entry(
              kind: .updated, id: object._objectID, base: row, row: row, changed: object._changed,
              isWhole: false))
        }
      }
      _markSaved(object, row: nil)
    }
    unwritten += context.saving.linked.compactMap(\.entry)
    context.saving.linked = []
    let adopted = hadAdopted ? entries : []
    adopted.forEachUnretained { entry in
      guard let object = context.table.object(for: entry.id), object._flags.contains(.adopted) else { return }
      switch entry.kind {
      case .inserted: sets.inserted.insert(object)
      case .updated: sets.updated.insert(object)
      case .deleted: sets.deleted.insert(object)
      case .insertedThenDeleted: break
      }
      // A store wrote its own row with the change; a parent adopted only the change.
      _markSaved(object, row: context._parent == nil ? entry.row : object._draft ?? entry.row)
    }
    _reportFollowed(in: &sets)
    own.forEachUnretained { $0._state.endSave() }
    let changes = SavedChanges(
      unwritten.isEmpty ? entries : entries + unwritten, isStored: context._parent == nil, context: context)
    let ids = hadAdopted || !unwritten.isEmpty ? nil : layer?.ids
    _announce(sets, ids.flatMap { $0.belong(to: sets) ? $0 : nil } ?? SavedIDs(sets), changes)
  }

  /// Makes the values of a child's save saved state, if this save is of nothing else and its objects are those of the
  /// last change notification: their sets and IDs are known then, and nothing is looked up.
  ///
  /// - Returns: The sets of the save; nil if the entries are to be gone through.
  private func _consumeAdopted(_ layer: ChangeLayer) -> EventSets? {
    guard context.saving.linked.isEmpty, let sets = context.events.announced,
      sets.holdsAll(layer.entries.count),
      layer.ids.belong(to: sets)
    else { return nil }
    func areAdopted(_ objects: Set<NSManagedObject>, _ isOfKind: (ObjectFlags) -> Bool) -> Bool {
      objects.allSatisfy { object in
        object._flags.contains(.adopted) && !object._flags.contains(.listed) && isOfKind(object._flags)
          && (object._draft != nil || object._flags.contains(.deleted))
      }
    }
    guard
      areAdopted(sets.inserted, { $0.contains(.inserted) && !$0.contains(.deleted) }),
      areAdopted(sets.updated, { $0.isDisjoint(with: [.inserted, .deleted]) }),
      areAdopted(sets.deleted, { $0.contains(.deleted) && !$0.contains(.inserted) }),
      sets.updated.allSatisfy(\.hasPermanentID), sets.deleted.allSatisfy(\.hasPermanentID)
    else { return nil }
    context.events.announced = nil
    for objects in [sets.inserted, sets.updated, sets.deleted] {
      for object in objects { _markSaved(object, row: object._draft) }
    }
    return sets
  }

  /// Reports the objects that the stores' delete rules cut and deleted, in the save and in the next change
  /// notification.
  private func _reportFollowed(in sets: inout EventSets) {
    for object in context.saving.followed {
      if sets.deleted.contains(object) {
        context.editing.recordEvent(object, .eventDeleted)
      } else if object._context === context {
        sets.updated.insert(object)
      }
    }
    context.saving.followed = []
  }

  /// Returns the published changes that the save does not include: resolving a conflict dropped them, the row
  /// was deleted elsewhere, or the object was deleted before it was ever saved.
  private func _unsavedEntries(
    _ saved: [ChangeLayer.Entry], _ own: [NSManagedObject], _ hasDeletions: Bool
  ) -> [ChangeLayer.Entry] {
    let layers = context.overlay.layers
    guard
      context.saving.hasResolved || context.saving.skipsVanished
        || layers.contains(where: \.hasInsertedThenDeleted)
        // One child may have deleted what another has inserted, or this context itself.
        || layers.count > 1 && layers.contains(where: \.hasDeletions)
        || hasDeletions && own.contains(where: { $0._flags.isSuperset(of: [.inserted, .deleted]) })
    else { return [] }
    let written = IdentitySet(saved.lazy.map(\.id))
    return layers.composedEntries.filter { !written.contains($0.id) }
  }

  /// Returns the sets of the last change notification if the save affects the same objects in the same way. A
  /// bulk import announces its insertions once, right before the save.
  private func _consumeAnnounced(_ own: [NSManagedObject], _ hadAdopted: Bool) -> EventSets? {
    defer { context.events.announced = nil }
    guard let sets = context.events.announced, !hadAdopted, sets.holdsAll(own.count) else { return nil }
    // The inserted set holds only inserted objects, the deleted set only deleted ones: equal counts mean
    // equal sets.
    var (inserted, deleted) = (0, 0)
    let areAllSaved = own.allSatisfyUnretained { object in
      if object._flags.contains(.deleted) { deleted += 1 }
      if object._flags.contains(.inserted) { inserted += 1 }
      return object.isDirty && !object._flags.isSuperset(of: [.inserted, .deleted])
    }
    return areAllSaved && inserted == sets.inserted.count && deleted == sets.deleted.count ? sets : nil
  }

  /// Clears the flags of an unsaved change once it is saved.
  @inline(__always)
  private func _markSaved(_ object: NSManagedObject, row: Row?) {
    if object._flags.contains(.deleted) {
      // Other objects stay registered until their deletion has been announced.
      if object._flags.contains(.inserted) { context.table.remove(object) }
      object._state.commitDeletion()
      return
    }
    object.becomeSaved(as: row)
    // Objects of a root context have their permanent IDs from here on.
    if context._parent == nil { object.adoptPermanentID() }
  }

  /// Calls `didSave`, posts the notifications, and sends the changes to contexts that merge automatically.
  ///
  /// - Parameter hasHooks: Whether a class may override `didSave`.
  private func _announce(
    _ sets: EventSets, _ saved: SavedIDs, _ changes: SavedChanges, hasHooks: Bool = true
  ) {
    for objects in hasHooks ? [sets.inserted, sets.updated, sets.deleted] : [] {
      for object in objects where object._shape.hooks.contains(.didSave) { object.didSave() }
    }
    var objects = Self._filled(Self._objects, sets.inserted, sets.updated, sets.deleted, changes)
    let generation = context.generationRead
    if let generation { objects[NSManagedObjectContextQueryGenerationKey] = generation }
    if let token = context.saving.token { objects[Self.changeTokenKey] = token }
    context.saving.isActive = false
    _sendForMerging(changes)
    context.observers.tellOfSave()
    NotificationCenter.default.post(name: .NSManagedObjectContextDidSave, object: context, userInfo: objects)
    var ids = Self._filled(Self._ids, saved.inserted, saved.updated, saved.deleted, changes)
    if let generation { ids[NSManagedObjectContextQueryGenerationKey] = generation }
    if let token = context.saving.token { ids[Self.changeTokenKey] = token }
    context.saving.token = nil
    context.saveObserver?(ids)
    NotificationCenter.default.post(
      name: .NSManagedObjectContextDidSaveObjectIDs, object: context, userInfo: ids)
    _unregisterDeleted(sets.deleted)
    if !changes.isEmpty { context.registry.sweepIfDue() }
  }

  // A generation and a token may follow.
  private static let _objects = UserInfoForm(
    [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey, SavedChanges.key], reserve: 2)
  private static let _ids = UserInfoForm(
    [NSInsertedObjectIDsKey, NSUpdatedObjectIDsKey, NSDeletedObjectIDsKey, SavedChanges.key], reserve: 2)

  private static func _filled<Member: Hashable>(
    _ form: UserInfoForm, _ inserted: Set<Member>, _ updated: Set<Member>, _ deleted: Set<Member>,
    _ changes: SavedChanges
  ) -> [AnyHashable: Any] {
    var userInfo = form.blank
    form.set(inserted, at: 0, in: &userInfo)
    form.set(updated, at: 1, in: &userInfo)
    form.set(deleted, at: 2, in: &userInfo)
    form.set(changes, at: 3, in: &userInfo)
    return userInfo
  }

  /// Sends the save to contexts that merge automatically. Enqueued before the save is announced, so that a
  /// block which an observer sends to their queue runs after the merge.
  private func _sendForMerging(_ changes: SavedChanges) {
    guard !changes.isEmpty else { return }
    if context._parent == nil { context.persistentStoreCoordinator?.broadcast(changes, from: context) }
    guard context.overlay.hasReaders else { return }
    for child in context.overlay.readers
    where child._parent === context && child.automaticallyMergesChangesFromParent {
      child.queue.enqueueMerge { $0.append(changes) }
    }
  }

  /// Unregisters objects whose deletion was saved. Until the save is announced, they are found under their
  /// IDs.
  private func _unregisterDeleted(_ objects: Set<NSManagedObject>) {
    // Keep objects that an observer has brought back.
    for object in objects where object._context === context && !object.hasChanges {
      context.table.remove(object)
      object.leaveContextWithLinks()
    }
  }
}

extension Relations {
  func commit() { forEachToMany { _, state in state.commit() } }
}
