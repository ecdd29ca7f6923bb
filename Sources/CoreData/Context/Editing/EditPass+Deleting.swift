import CoreDataModelSchema

// How an object becomes deleted.

/// The ways in which an object becomes deleted in its context.
enum DeletionCause {
  /// The program or a delete rule deletes it. Its own delete rules follow.
  case requested
  /// The delete rules have been applied already, or have nothing to follow.
  case settled
  /// Another context has deleted it and applied the delete rules, but not stored that yet: an ancestor, which
  /// may roll it back.
  case merged
  /// Its row is known to be gone: the next save writes nothing for it.
  case deletedInStore
  /// A child has saved the deletion: the overlay lists it, unless the object has changes of this context as
  /// well.
  case adopted
  /// It exists nowhere any more, and the context is about to forget it: nothing to save.
  case dropped

  /// The permission to make an object deleted, which only `EditPass.markDeleted(_:as:)` has.
  struct Permission {
    fileprivate init() {}
  }
}

extension EditPass {
  /// Makes an object deleted: lists it for the next save and for the next change notification.
  ///
  /// The only way in which a registered object becomes deleted, so that no list keeps an object that is gone.
  /// An object that is registered as deleted, for a child's save that was announced before, begins with that
  /// state.
  func markDeleted(_ object: NSManagedObject, as cause: DeletionCause = .requested) {
    switch cause {
    case .requested, .settled:
      if context.undoRecorder != nil { _readForUndo(object) }
      object.willChangeState()
    case .merged, .deletedInStore, .adopted, .dropped: break
    }
    object._state.delete(cause, by: DeletionCause.Permission())
    switch cause {
    case .requested, .settled, .merged, .deletedInStore: list(object)
    case .adopted: if object._flags.contains(.listed) { list(object) } else { object._state.adopt() }
    case .dropped: unlist(object)
    }
    context.unsaved.hasDeletions = context.unsaved.hasDeletions || cause != .dropped
    recordEvent(object, .eventDeleted)
  }

  /// Reads the values of a fault that is about to be deleted. Once the deletion is saved, an undo finds them
  /// nowhere else.
  private func _readForUndo(_ object: NSManagedObject) {
    guard object.isFault, object._row == nil else { return }
    do {
      _ = try FaultPass(context).load(object)
    } catch {
      // The save of the deletion reads again, and tells of the error. Only an undo after it lacks the values.
    }
  }

  /// Lets go of objects whose deletion by others has been announced, and to which only the registry refers.
  ///
  /// Core Data keeps them among the deleted objects until the context saves. So does this context with a few
  /// hundred; but one that only shows what others save never saves, and each of its fetches would pass over
  /// all of them.
  func letGoOfVanished() {
    guard context.unsaved.count >= context.unsaved.mostBeforeLettingGo, !context.saving.isActive,
      !context.retainsRegisteredObjects
    else { return }
    // What children read of this context stays until it saves.
    if context.overlay.layers.isEmpty {
      for key in _takeVanished() {
        guard let (object, isOnlyHolder) = context.table.objectAndHold(for: key) else { continue }
        if isOnlyHolder { context.registry.forget(object) } else { context.unsaved.append(object) }
      }
    }
    context.unsaved.mostBeforeLettingGo = context.unsaved.count + UnsavedObjects.mostVanished
  }

  /// Removes the objects with announced deletions of others from the list of unsaved objects, and returns
  /// their keys. No reference to them is left here.
  private func _takeVanished() -> [IdentityKey] {
    var keys: [IdentityKey] = []
    context.unsaved.removeAll { object in
      let flags = object._flags
      guard flags.isSuperset(of: [.deleted, .deletedInStore, .deletionAnnounced]),
        flags.isDisjoint(with: [.inserted, .eventListed, .locked])
      else { return false }
      keys.append(IdentityKey(of: object))
      return true
    }
    return keys
  }

  /// Brings back an object that others had deleted, and announces it as inserted: its row exists again.
  ///
  /// - Parameter row: The row; nil if it is not known, so that firing the fault reads it.
  func revive(_ object: NSManagedObject, row: Row?) {
    PublishPass(context).withdraw(object)
    unlist(object)
    object.revive(showing: row)
    if let row {
      context.links.rereadInverses(object._layout, from: nil, to: row)
    } else {
      object.turnIntoFault()
    }
    recordEvent(object, .eventMergedInsert)
  }
}
