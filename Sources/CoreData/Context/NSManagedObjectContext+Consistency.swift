extension NSManagedObjectContext {
  /// What contradicts itself in the context's structures, for tests: nothing may between two calls. Looks at
  /// every registered object. Called on the context's queue.
  final var inconsistencies: [String] {
    var found = _ownInconsistencies
    guard parent == nil, let coordinator = persistentStoreCoordinator else { return found }
    found += coordinator.rowCache.inconsistencies
    for store in coordinator.persistentStores {
      found += (store.engine as? MemoryStoreEngine)?.inconsistencies ?? []
    }
    return found
  }

  private final var _ownInconsistencies: [String] {
    var found = table.inconsistencies + unsaved.inconsistencies
    table.forEach { object in
      if object.managedObjectContext !== self { found.append("\(object._objectID) has another context") }
      found += object.inconsistencies
    }
    for layer in overlay.layers { found += layer.inconsistencies }
    for observer in events.observers { found += observer.observer?.inconsistencies ?? [] }
    return found
  }

  /// Checks, in debug builds, that nothing contradicts itself in a context which has just saved or merged, and that its
  /// deleted objects are listed for the next save, and announced or about to be.
  ///
  /// Looks at small contexts only, since it visits every object, and at the structures only where violations of queues
  /// trap, as in tests.
  final func assertConsistent() {
    assert(
      table.count > 2_000 || _ghost == nil,
      "'\(_ghost!.objectID)' is deleted, but nothing lists or announces it")
    assert(
      ConcurrencyCheck.mode != .traps || table.count > 64 || _ownInconsistencies.isEmpty,
      _ownInconsistencies.joined(separator: "; "))
  }

  private final var _ghost: NSManagedObject? {
    var ghost: NSManagedObject?
    table.forEach { object in
      guard object._flags.contains(.deleted) else { return }
      let isListed = !object._flags.isDisjoint(with: [.listed, .adopted])
      let isAnnounced =
        object._flags.contains(.deletionAnnounced)
        || object._flags.isSuperset(of: [.eventDeleted, .eventListed])
      if !isListed || !isAnnounced { ghost = object }
    }
    return ghost
  }
}
