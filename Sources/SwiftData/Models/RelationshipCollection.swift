/// A collection of models that a to-many relationship can be declared as: an array, or an optional one.
public protocol RelationshipCollection {
  /// Class of the members.
  associatedtype PersistentElement: PersistentModel
}

extension Array: RelationshipCollection where Element: PersistentModel {
  public typealias PersistentElement = Element
}

extension Optional: RelationshipCollection where Wrapped: RelationshipCollection {
  public typealias PersistentElement = Wrapped.PersistentElement
}
