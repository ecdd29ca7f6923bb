import CoreData
import Foundation

/// A typed object ID, for passing objects between contexts.
///
/// Sendable, hashable. May be used on any thread.
///
/// ```swift
/// let id = ObjectID(book)
/// try await stack.performWork { context in
///   try context.existing(id).title = "Orlando"
/// }
/// ```
public struct ObjectID<Object: NSManagedObject>: Hashable, Sendable {
  /// The untyped ID.
  public let id: NSManagedObjectID

  /// Creates the ID of an object. Call on the queue of its context.
  ///
  /// A never-saved object has a temporary ID, known only to its own context, to its children, and to its
  /// parents after a save; see `NSManagedObjectContext.permanentID(of:)`.
  public init(_ object: Object) { id = object.objectID }

  /// Creates a typed ID, trusting that the object is of this class.
  public init(_ id: NSManagedObjectID) { self.id = id }
}

extension ObjectID: CustomStringConvertible {
  public var description: String { id.uriRepresentation().absoluteString }
}

extension NSManagedObjectContext {
  /// Returns this context's instance of an object, as a fault if it is not loaded. Call on the context's
  /// queue.
  ///
  /// Traps if the object is of another class.
  ///
  /// ```swift
  /// let id = ObjectID(book)
  /// background.performAndWait {
  ///   background.object(id).isRead = true
  /// }
  /// ```
  public func object<Object: NSManagedObject>(_ id: ObjectID<Object>) -> Object {
    _typed(object(with: id.id))
  }

  /// This context's own copy of an object, with its values. Call on the context's queue.
  ///
  /// ```swift
  /// let id = ObjectID<Book>(bookID)
  /// let title = try await background.perform { try background.existing(id).title }
  /// ```
  ///
  /// - Throws: Cocoa error 133000 if the object does not exist.
  public func existing<Object: NSManagedObject>(_ id: ObjectID<Object>) throws -> Object {
    _typed(try existingObject(with: id.id))
  }

  /// Returns an ID of an object that every context of the store can use once it is saved. Call on the
  /// context's queue.
  ///
  /// ```swift
  /// let book = Book(context: context)
  /// let id = try context.permanentID(of: book)  // other contexts know it once the book is saved
  /// ```
  ///
  /// - Throws: Errors of obtaining a permanent ID.
  public func permanentID<Object: NSManagedObject>(of object: Object) throws -> ObjectID<Object> {
    if object.objectID.isTemporaryID { try obtainPermanentIDs(for: [object]) }
    return ObjectID(object)
  }

  private func _typed<Object: NSManagedObject>(_ object: NSManagedObject) -> Object {
    guard let typed = object as? Object else {
      preconditionFailure("\(object.objectID) is a \(type(of: object)), not a \(Object.self)")
    }
    return typed
  }
}
