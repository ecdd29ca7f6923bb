extension NSManagedObjectContext {
  /// How many stored objects have unsaved changes or are to be deleted, at most: what a fetch from the store alone may find
  /// too many. On the context's queue.
  package final var storedChangeCount: Int {
    guard overlay.layers.isEmpty else { return updatedObjects.count + deletedObjects.count }
    return unsaved.objects.count { $0.isDirty && !$0._flags.contains(.inserted) }
  }
}
