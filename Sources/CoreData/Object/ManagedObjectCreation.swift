import Foundation

/// Creates objects of a class known only at run time: `T(context:)` for a `T: NSManagedObject`,
/// `Self(context:)`, `type.init(entity:insertInto:)`.
///
/// Swift allows that only for `required` initializers. Requiring those of `NSManagedObject` would break every
/// subclass that overrides one without the keyword, so they are declared in an extension of this protocol,
/// which needs none. Where the class is known at compile time, its own initializers are called.
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
  ///   - entity: A concrete entity; nil for the entity of this class in the context's model. Traps if there
  ///     is none or more than one.
  ///   - context: Context to insert the object into. Nil, which requires an entity, inserts it into none.
  static func create(_ entity: NSEntityDescription?, in context: NSManagedObjectContext?) -> Self
}

extension ManagedObjectCreation {
  /// Creates an object of an entity and inserts it into the context, if any.
  public init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    self = Self.create(entity, in: context)
  }

  /// Creates an object of this class's only entity and inserts it.
  ///
  /// Traps when no entity, or more than one, of the context's model has this class.
  public init(context: NSManagedObjectContext) { self = Self.create(nil, in: context) }
}

extension NSManagedObject {
  public static func create(_ entity: NSEntityDescription?, in context: NSManagedObjectContext?) -> Self {
    guard let entity = entity ?? context.map({ $0.memo.onlyEntity(of: self, in: $0) }) else {
      programmerError("\(self) cannot be created without an entity and without a context to find it by.")
    }
    return unsafeDowncast(ObjectMaker.make(self, entity, insertInto: context), to: self)
  }
}
