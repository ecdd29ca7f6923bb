import CoreData

/// A context as its models refer to it, and what makes models of the engine's objects for it.
///
/// Used where the context is used. Models keep it; it doesn't keep the context.
final class ContextLink {
  /// Cleared by the context when it goes.
  unowned(unsafe) var context: ModelContext?
  private let _bindings: SchemaBinding
  /// Kept, so that models whose context is gone still find what they lead to.
  private let _managed: NSManagedObjectContext

  init(_ context: ModelContext, _ bindings: SchemaBinding) {
    self.context = context
    _bindings = bindings
    _managed = context.managed
  }

  /// The model that shows an object: the one that does already, or a new one.
  func model(of object: ModelObject) -> any PersistentModel {
    if let known = object.storage?.model as? any PersistentModel { return known }
    return _bindings.binding(of: object.entity).make(object, self)
  }
}
