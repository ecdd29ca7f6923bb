import CoreDataModelSchema

// How an object becomes deleted.

/// The ways in which an object becomes deleted in its context.
enum DeletionCause {
  /// The program or a delete rule deletes it. Its own delete rules follow.
  case requested
  /// The delete rules have been applied already, or have nothing to follow.
  case settled
  /// Its row is known to be gone: the next save writes nothing for it.
  case vanished
  /// A child has saved the deletion: the overlay lists it, unless the object has changes of this context as well.
  case adopted
  /// It exists nowhere any more, and the context is about to forget it: nothing to save.
  case dropped

  /// The permission to make an object deleted, which only `NSManagedObjectContext.markDeleted(_:as:)` has.
  struct Permission {
    fileprivate init() {}
  }
}

extension NSManagedObjectContext {
  /// Makes an object deleted: lists it for the next save and for the next change notification.
  ///
  /// The only way in which a registered object becomes deleted, so that no list keeps an object that is gone. An object that
  /// is registered as deleted, for a child's save that was announced before, begins with that state.
  final func markDeleted(_ object: NSManagedObject, as cause: DeletionCause = .requested) {
    switch cause {
    case .requested, .settled: object.willChangeState()
    case .vanished, .adopted, .dropped: break
    }
    object._state.delete(cause, by: DeletionCause.Permission())
    switch cause {
    case .requested, .settled, .vanished: list(object)
    case .adopted: if object._flags.contains(.listed) { list(object) } else { object._state.adopt() }
    case .dropped: unlist(object)
    }
    unsaved.hasDeletions = unsaved.hasDeletions || cause != .dropped
    recordEvent(object, .eventDeleted)
  }

  /// Checks, in debug builds, that the deleted objects of a context which has just saved or merged are listed for the next
  /// save, and announced or about to be.
  ///
  /// Looks at small contexts only, since it visits every object.
  final func assertNoGhosts() {
    assert(
      table.count > 2_000 || _ghost == nil,
      "'\(_ghost!.objectID)' is deleted, but nothing lists or announces it")
  }

  private final var _ghost: NSManagedObject? {
    var ghost: NSManagedObject?
    table.forEach { object in
      guard object._flags.contains(.deleted) else { return }
      let isListed = !object._flags.isDisjoint(with: [.listed, .adopted])
      let isAnnounced =
        object._flags.contains(.toldDeleted) || object._flags.isSuperset(of: [.eventDeleted, .eventListed])
      if !isListed || !isAnnounced { ghost = object }
    }
    return ghost
  }
}
