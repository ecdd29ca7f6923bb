import CoreData

/// A model's reference to its context, and the creation of models for the context's objects.
///
/// Used where the context is used. Models retain it; it doesn't retain the context.
final class ContextLink {
  /// Cleared by the context on its deinit.
  unowned(unsafe) var context: ModelContext?
  private let _bindings: SchemaBinding
  /// Retained, so that models still find related models after the context's deallocation.
  private let _managed: NSManagedObjectContext
  /// The last binding used, which is nearly always the next one, too.
  private var _last: EntityBinding?

  init(_ context: ModelContext, _ bindings: SchemaBinding) {
    self.context = context
    _bindings = bindings
    _managed = context.managed
  }

  /// Returns the model of an object: the existing one, or a new one.
  @inline(__always) func instance(of object: ModelStorage) -> AnyObject {
    if let known = object.shownInstance { return known }
    return _make(object)
  }

  private func _make(_ object: ModelStorage) -> AnyObject {
    let entity = object.entity
    if let last = _last, last.entity === entity { return last.make(object, self) }
    let binding = _bindings.binding(of: entity)
    _last = binding
    return binding.make(object, self)
  }
}
