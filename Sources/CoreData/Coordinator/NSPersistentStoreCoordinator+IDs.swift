// IDs from the parts that modules of this package keep of them.

extension NSPersistentStoreCoordinator {
  /// The ID of an object by its store's UUID, its entity and its primary key; nil where there is no such store or
  /// entity.
  package final func objectID(inStore store: String, entity: String, number: Int64) -> NSManagedObjectID? {
    guard
      let space = persistentStores.lazy.filter({ $0.identifier == store }).first?.engine?.spaces
        .first(where: { $0.layout.entityName == entity }),
      space.references == nil
    else { return nil }
    return NSManagedObjectID(ObjectKey(space: space, reference: number))
  }

  /// The ID of an object of a custom store by the text of its reference.
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
