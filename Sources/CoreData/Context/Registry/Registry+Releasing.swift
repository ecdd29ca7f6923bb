import CoreDataModelSchema

// Letting go of registered objects.

extension Registry {
  /// Unregisters an object, which then belongs to no context.
  func forget(_ object: NSManagedObject) {
    context.table.remove(object)
    object.leaveContext()
    object._state.leaveContext()
  }

  /// Whether releasing the object would lose state.
  func isNeeded(_ object: NSManagedObject) -> Bool {
    context.retainsRegisteredObjects
      || !object._flags.isDisjoint(with: [.listed, .eventListed, .locked, .adopted])
  }

  /// Returns the registered object of this ID if it is referenced outside the registry or has unsaved state.
  /// Unregisters any other object: Core Data would have deallocated it, so it must not reappear with stale
  /// values.
  @inline(__always)
  func heldObject(for id: NSManagedObjectID) -> NSManagedObject? {
    if !context.saving.retained.isEmpty { releaseSavedObjects() }
    guard let (object, isOnlyHolder) = context.table.objectAndHold(for: id) else { return nil }
    return isOnlyHolder ? _unlessLetGo(object) : object
  }

  /// Returns the registered object of this key, under the rules of `heldObject(for:)` for IDs.
  @inline(__always)
  func heldObject(for key: IdentityKey) -> NSManagedObject? {
    if !context.saving.retained.isEmpty { releaseSavedObjects() }
    guard let (object, isOnlyHolder) = context.table.objectAndHold(for: key) else { return nil }
    return isOnlyHolder ? _unlessLetGo(object) : object
  }

  private func _unlessLetGo(_ object: NSManagedObject) -> NSManagedObject? {
    // A save or a change notification in progress may look the object up again.
    if context.saving.isActive || context.events.isProcessing || isNeeded(object) {
      return object
    }
    context.table.remove(object)
    object.leaveContext()
    return nil
  }

  /// Releases the objects written by the last save, unless an insertion is pending: Core Data then retains
  /// them until the next clean save.
  func releaseSavedObjects() {
    if !context.unsaved.hasInsertions { context.saving.retained = [] }
  }

  func sweepIfDue() {
    if context.table.isSweepDue { sweep() }
  }

  /// Schedules a sweep. Releasing the objects of a change notification takes time, and no caller depends on
  /// it.
  func sweepSoonIfDue() {
    guard context.table.isSweepDue else { return }
    if context.concurrencyType == .confinement { return sweep() }
    let reference = WeakContext(context: context)
    context.queue.async { reference.context?.registry.sweepIfDue() }
  }

  /// Unregisters objects that only the registry references and that have no unsaved state.
  func sweep() {
    guard !context.retainsRegisteredObjects, !context.saving.isActive, !context.events.isProcessing else {
      return
    }
    releaseSavedObjects()
    var mayFreeMore = true
    while mayFreeMore {
      let dead = context.table.removeUnheld(unless: isNeeded)
      mayFreeMore = false
      for object in dead {
        object._withUnsafeGuaranteedRef { object in
          // Objects that it referenced may then be unreferenced.
          if object._relations != nil { mayFreeMore = true }
          object.leaveContext()
        }
        object.release()
      }
    }
  }
}
