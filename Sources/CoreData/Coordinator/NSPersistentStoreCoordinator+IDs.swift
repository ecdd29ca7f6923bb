// IDs from their parts, which modules of this package keep.

extension NSPersistentStoreCoordinator {
  /// Returns the ID of an object by its store's UUID, its entity and its primary key; nil if the store or
  /// entity does not exist.
  package final func objectID(inStore store: String, entity: String, number: Int64) -> NSManagedObjectID? {
    guard
      let space = persistentStores.lazy.filter({ $0.identifier == store }).first?.engine?.spaces
        .first(where: { $0.layout.entityName == entity }),
      space.references == nil
    else { return nil }
    return NSManagedObjectID(ObjectKey(space: space, reference: number))
  }

  /// Returns the ID of an object of a custom store by the text of its reference object.
  package final func objectID(inStore store: String, entity: String, text: String) -> NSManagedObjectID? {
    guard
      let space = persistentStores.lazy.filter({ $0.identifier == store }).first?.engine?.spaces
        .first(where: { $0.layout.entityName == entity }),
      let references = space.references
    else { return nil }
    return NSManagedObjectID(
      ObjectKey(space: space, reference: references.key(for: text, root: space.layout.rootNumber)))
  }
}
