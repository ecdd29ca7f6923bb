extension NSManagedObjectContext {
  /// Upper bound on the number of stored objects with unsaved changes or deletions: a fetch from the store
  /// alone may return that many too many. Use on the context's queue.
  package final var storedChangeCount: Int {
    guard overlay.layers.isEmpty else { return updatedObjects.count + deletedObjects.count }
    return unsaved.objects.count { $0.isDirty && !$0._flags.contains(.inserted) }
  }
}
