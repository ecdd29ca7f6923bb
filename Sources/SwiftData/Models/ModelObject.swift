import CoreData

/// The engine's object behind a model.
///
/// Used on the queue of its context, as every managed object.
final class ModelObject: NSManagedObject {
  /// The storage of the model that shows this object; it clears this when it goes.
  unowned(unsafe) var storage: ModelStorage?
}
