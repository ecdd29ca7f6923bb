/// Makes objects of the class that an entity names.
///
/// Swift lets a class be instantiated from its metatype only through a `required` initialiser, and requiring
/// `init(entity:insertInto:)` would break every subclass that overrides it without saying `required`. Designated
/// initialisers stand in the class's table of methods all the same. So the metatype is looked at through a class of the
/// same shape, same superclass and the initialiser as its first member, in which it is `required`: the call then goes
/// through the same place in the table and reaches the subclass's own override. `ObjectMakerTests` holds this to account for
/// each toolchain.
enum ObjectMaker {
  /// Same superclass and same first member as `NSManagedObject`; never instantiated.
  private class Lens: NSObject {
    required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
      fatalError("the lens is only looked through")
    }
  }

  /// Creates an object of the entity's class, belonging to no context yet.
  static func make(_ entity: NSEntityDescription) -> NSManagedObject {
    let type = entity.shape.objectClass
    if type == NSManagedObject.self { return NSManagedObject(entity: entity, insertInto: nil) }
    let lens = unsafeBitCast(type, to: Lens.Type.self)
    return unsafeBitCast(lens.init(entity: entity, insertInto: nil) as AnyObject, to: NSManagedObject.self)
  }
}
