/// Creates objects of an entity's class.
///
/// Swift instantiates a class from its metatype only through a `required` initializer, and making
/// `init(entity:insertInto:)` required would break every subclass that overrides it without the keyword. The
/// class's method table lists designated initializers regardless. The metatype is therefore cast to a class
/// of the same shape (same superclass, same number of stored properties, the initializer as first member)
/// whose initializer is `required`: the call uses the same table index and dispatches to the subclass's
/// override. `ObjectMakerTests` verifies this for each toolchain.
enum ObjectMaker {
  /// Same shape as `NSManagedObject`; never instantiated.
  class VTableShape: NSObject {
    // In the table, the offsets of stored properties precede the methods: one for each property of
    // NSManagedObject.
    final var entity = 0, shape = 0, identity = 0, reference = 0, context = 0, values = 0,
      relations = 0, state = 0

    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
      fatalError("this class is only looked through")
    }
  }

  /// Overrides the initializer. Otherwise the compiler infers that `VTableShape` is final and calls it directly.
  final class OverridingVTableShape: VTableShape {
    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
      super.init(entity: entity, insertInto: context)
    }
  }

  /// Creates an object of the entity's class, without a context.
  @inline(__always)
  static func make(_ entity: NSEntityDescription) -> NSManagedObject {
    let type = entity.shapeReference._withUnsafeGuaranteedRef { $0.objectClass }
    return make(type, entity, insertInto: nil)
  }

  /// Creates an object of a class by its designated initializer.
  @inline(__always)
  static func make(
    _ type: NSManagedObject.Type, _ entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
  ) -> NSManagedObject {
    if type == NSManagedObject.self { return NSManagedObject(entity: entity, insertInto: context) }
    let shaped = unsafeBitCast(type, to: VTableShape.Type.self)
    return unsafeBitCast(
      shaped.init(entity: entity, insertInto: context) as AnyObject, to: NSManagedObject.self)
  }
}
