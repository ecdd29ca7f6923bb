import Foundation

/// Creates coordinators of a class known only at run time, as a static method of an extension does with
/// `self.init(managedObjectModel:)`.
///
/// Swift allows that only for `required` initializers. Requiring that of `NSPersistentStoreCoordinator` would
/// break every subclass that overrides it without the keyword, so it is declared in an extension of this
/// protocol, which needs none. Where the class is known at compile time, its own initializer is called.
///
/// ```swift
/// extension NSPersistentStoreCoordinator {
///   static func inMemory(_ model: NSManagedObjectModel) throws -> Self {
///     let coordinator = self.init(managedObjectModel: model)
///     try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
///     return coordinator
///   }
/// }
/// ```
public protocol CoordinatorCreation {
  /// Creates a coordinator of this class, through the class's own designated initializer. On any thread.
  ///
  /// - Parameter model: The model, which becomes immutable when it is first used.
  static func create(managedObjectModel model: NSManagedObjectModel) -> Self
}

extension CoordinatorCreation {
  /// Creates a coordinator for a model; the model becomes immutable when it is first used.
  public init(managedObjectModel model: NSManagedObjectModel) {
    self = Self.create(managedObjectModel: model)
  }
}

extension NSPersistentStoreCoordinator: CoordinatorCreation {
  public static func create(managedObjectModel model: NSManagedObjectModel) -> Self {
    unsafeDowncast(CoordinatorMaker.make(self, model), to: self)
  }
}

/// Creates coordinators from a metatype, as `ObjectMaker` creates objects.
private enum CoordinatorMaker {
  /// Same shape as `NSPersistentStoreCoordinator`: one property for each of its own, and the initializer as
  /// first member. Never instantiated.
  class VTableShape: NSObject {
    final var weakAnchor = 0, model = 0, state = 0, queue = 0, cache = 0, order = 0, reinsertion = 0,
      reads = 0,
      faults = 0, fetches = 0, cancels = 0, remote = 0, version = 0

    required init(managedObjectModel model: NSManagedObjectModel) {
      fatalError("this class is only looked through")
    }
  }

  /// Overrides the initializer. Otherwise the compiler infers that `VTableShape` is final and calls it directly.
  final class OverridingVTableShape: VTableShape {
    required init(managedObjectModel model: NSManagedObjectModel) { super.init(managedObjectModel: model) }
  }

  static func make(_ type: NSPersistentStoreCoordinator.Type, _ model: NSManagedObjectModel)
    -> NSPersistentStoreCoordinator
  {
    if type == NSPersistentStoreCoordinator.self {
      return NSPersistentStoreCoordinator(managedObjectModel: model)
    }
    let shaped = unsafeBitCast(type, to: VTableShape.Type.self)
    return unsafeBitCast(
      shaped.init(managedObjectModel: model) as AnyObject, to: NSPersistentStoreCoordinator.self)
  }
}
