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
