import Foundation

/// What creates objects of a class that is known only where the program runs: `T(context:)` for a
/// `T: NSManagedObject`, `Self(context:)`, `type.init(entity:insertInto:)`.
///
/// Swift takes only a `required` initializer for that, and requiring them of `NSManagedObject` would break each
/// subclass that overrides one without saying `required`. An initializer of a protocol that the class conforms to
/// counts too. Where the class is known, its own initializers are called.
///
/// ```swift
/// struct Shelf<Item: NSManagedObject> {
///   let context: NSManagedObjectContext
///   func add() -> Item { Item(context: context) }
/// }
/// let book = Shelf<Book>(context: context).add()
/// ```
public protocol ManagedObjectCreation {
  /// Creates an object of this class, through the class's own designated initializer.
  ///
  /// - Parameters:
  ///   - entity: A concrete entity; nil for the one that this class stands for in the context's model. Traps
  ///     where that has none or several.
  ///   - context: Context that the object becomes part of; nil, with an entity, leaves it on its own.
  static func create(_ entity: NSEntityDescription?, in context: NSManagedObjectContext?) -> Self
}

extension ManagedObjectCreation {
  /// Creates an object of an entity and, with a context, inserts it there.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    self = Self.create(entity, in: context)
  }

  /// Creates an object of the one entity that this class stands for, and inserts it.
  ///
  /// Traps when no entity, or more than one, of the context's model has this class.
  public init(context: NSManagedObjectContext) { self = Self.create(nil, in: context) }
}

extension NSManagedObject {
  public static func create(_ entity: NSEntityDescription?, in context: NSManagedObjectContext?) -> Self {
    guard let entity = entity ?? context?.onlyEntity(of: self) else {
      programmerError("\(self) cannot be created without an entity and without a context to find it by.")
    }
    return unsafeDowncast(ObjectMaker.make(self, entity, insertInto: context), to: self)
  }
}
