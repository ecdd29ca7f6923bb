import Foundation

// What a permanent ID is made of, for modules of this package that have identifiers of their own. Any thread.

/// The parts of a permanent object ID.
package struct ObjectIDParts: Hashable, Sendable {
  /// UUID of the store.
  package let store: String
  /// Name of the object's entity.
  package let entity: String
  /// Primary key; of a custom store a number of this process, for which `text` stands elsewhere.
  package let number: Int64
  /// The reference that a custom store has chosen, as text; nil in other stores.
  package let text: String?
}

extension NSManagedObjectID {
  /// The parts of the permanent ID; nil as long as there is none.
  package final var parts: ObjectIDParts? {
    guard let id = permanent, let store = id.space.store else { return nil }
    return ObjectIDParts(
      store: store.identifier, entity: id.space.layout.entityName, number: id.reference,
      text: id.space.references?.pathText(of: id.reference)?.removingPercentEncoding)
  }
}

extension NSManagedObject {
  /// The parts of the object's permanent ID; nil as long as it has none. Makes no ID.
  package final var identityParts: ObjectIDParts? {
    guard let key = _key else { return _id?.parts }
    guard let store = key.space.store else { return nil }
    return ObjectIDParts(
      store: store.identifier, entity: key.space.layout.entityName, number: key.reference,
      text: key.space.references?.pathText(of: key.reference)?.removingPercentEncoding)
  }
}

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
