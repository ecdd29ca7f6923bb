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
  /// The binding that was asked for last: nearly always the next one, too.
  private var _last: EntityBinding?

  init(_ context: ModelContext, _ bindings: SchemaBinding) {
    self.context = context
    _bindings = bindings
    _managed = context.managed
  }

  /// The model that shows an object: the one that does already, or a new one.
  @inline(__always) func instance(of object: ModelObject) -> AnyObject {
    if let known = object.storage?.instance { return known }
    return _make(object)
  }

  private func _make(_ object: ModelObject) -> AnyObject {
    let entity = object.entity
    if let last = _last, last.entity === entity { return last.make(object, self) }
    let binding = _bindings.binding(of: entity)
    _last = binding
    return binding.make(object, self)
  }
}
