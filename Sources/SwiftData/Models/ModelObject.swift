import CoreData

/// The engine's object behind a model.
///
/// Used on the queue of its context, like every managed object.
final class ModelObject: NSManagedObject {
  /// The storage of this object's model; cleared on its deinit.
  unowned(unsafe) var storage: ModelStorage?
}
