/// Makes objects of the class that an entity names.
///
/// Swift lets a class be instantiated from its metatype only through a `required` initialiser, and requiring
/// `init(entity:insertInto:)` would break every subclass that overrides it without saying `required`.
/// Designated initialisers stand in the class's table of methods all the same. So the metatype is looked at
/// through a class of the same shape (same superclass, as many stored properties, the initialiser as its
/// first member) in which it is `required`: the call then goes through the same place in the table and
/// reaches the subclass's own override. `ObjectMakerTests` holds this to account for each toolchain.
enum ObjectMaker {
  /// Same shape as `NSManagedObject`; never instantiated.
  class Lens: NSObject {
    // The offsets of stored properties stand in the table before its methods: one for each of
    // NSManagedObject's.
    final var entity = 0, shape = 0, identity = 0, reference = 0, context = 0, row = 0, draft = 0,
      changed = 0,
      relations = 0, flags = 0

    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
      fatalError("the lens is only looked through")
    }
  }

  /// Overrides the initialiser, so that the compiler does not take `Lens` for final and call it directly.
  final class OtherLens: Lens {
    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
      super.init(entity: entity, insertInto: context)
    }
  }

  /// Creates an object of the entity's class, belonging to no context yet.
  static func make(_ entity: NSEntityDescription) -> NSManagedObject {
    make(entity.shape.objectClass, entity, insertInto: nil)
  }

  /// Creates an object of a class by its designated initializer.
  static func make(
    _ type: NSManagedObject.Type, _ entity: NSEntityDescription, insertInto context: NSManagedObjectContext?
  ) -> NSManagedObject {
    if type == NSManagedObject.self { return NSManagedObject(entity: entity, insertInto: context) }
    let lens = unsafeBitCast(type, to: Lens.Type.self)
    return unsafeBitCast(
      lens.init(entity: entity, insertInto: context) as AnyObject, to: NSManagedObject.self)
  }
}
