import Foundation

// The parts of a permanent ID, for modules of this package with identifiers of their own. Any thread.

/// The parts of a permanent object ID.
package struct ObjectIDParts: Hashable, Sendable {
  /// UUID of the store.
  package let store: String
  /// Name of the entity.
  package let entity: String
  /// Primary key; in a custom store a process-local number, which `text` replaces outside the process.
  package let number: Int64
  /// Text of the custom store's reference object; nil in other stores.
  package let text: String?
}

extension NSManagedObjectID {
  /// The parts of the permanent ID; nil without one.
  package final var parts: ObjectIDParts? {
    guard let id = permanent, let store = id.space.store else { return nil }
    return ObjectIDParts(
      store: store.identifier, entity: id.space.layout.entityName, number: id.reference,
      text: id.space.references?.pathText(of: id.reference)?.removingPercentEncoding)
  }
}
