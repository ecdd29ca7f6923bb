import CoreData
import Foundation

/// A separate context for one edit screen: `save()` keeps the input, `cancel()` discards it.
///
/// An incomplete object never appears in the list behind the screen, since it exists only in a child of the
/// list's context until it is saved. Created and used on the parent's queue.
///
/// ```swift
/// let pad = try ScratchPad(editing: book)
/// pad.object.title = "Orlando: A Biography"
/// if pad.hasChanges { try pad.save(toStore: true) }
/// ```
public final class ScratchPad<Object: NSManagedObject> {
  /// The child context; on the main queue for a main-queue parent, so that the screen uses it directly.
  public let context: NSManagedObjectContext
  /// The edited object, as the child context's own instance.
  public let object: Object
  private let _parent: NSManagedObjectContext
  private var _isClosed = false

  private init(_ parent: NSManagedObjectContext, _ make: (NSManagedObjectContext) throws -> Object) rethrows {
    let isMain = parent.concurrencyType == .mainQueueConcurrencyType
    let context = NSManagedObjectContext(
      concurrencyType: isMain ? .mainQueueConcurrencyType : .privateQueueConcurrencyType)
    context.parent = parent
    context.name = "Scratch pad"
    self.context = context
    _parent = parent
    object = try context.performAndWait { try make(context) }
  }

  /// Opens a scratch pad for an object of another context.
  ///
  /// - Throws: A Cocoa error if the object has been deleted.
  public convenience init(editing original: Object) throws {
    guard let parent = original.managedObjectContext else {
      preconditionFailure("the object to edit belongs to no context; it was deleted, or its context is gone")
    }
    let id = ObjectID(original)
    try self.init(parent) { try $0.existing(id) }
  }

  /// Opens a scratch pad with a new object of an entity.
  ///
  /// ```swift
  /// let pad = ScratchPad<Book>(inserting: "Book", in: context)
  /// pad.object.title = "The Waves"
  /// try await pad.saveToStore()
  /// ```
  public convenience init(inserting entityName: String, in parent: NSManagedObjectContext) {
    self.init(parent) { context in
      let object = NSEntityDescription.insertNewObject(forEntityName: entityName, into: context)
      guard let typed = object as? Object else {
        preconditionFailure("entity '\(entityName)' has class \(type(of: object)), not \(Object.self)")
      }
      return typed
    }
  }

  /// Whether there are unsaved changes.
  public var hasChanges: Bool { context.performAndWait { context.hasChanges } }

  /// Saves into the parent, and with `toStore` on to the store, and waits; `saveToStore(progress:isolation:)`
  /// does not.
  ///
  /// - Throws: Errors of saving, such as validation errors; the pad and its contents then remain.
  public func save(toStore: Bool = false) throws {
    precondition(!_isClosed, "the scratch pad was cancelled; open another one")
    if toStore { try context.saveContextToStoreAndWait() } else { try context.saveContextAndWait() }
  }

  /// Saves into the parent and on to the store, without blocking the caller's queue.
  ///
  /// Call it on the parent's queue: for a main-queue parent, on the main actor.
  ///
  /// - Parameters:
  ///   - progress: Receives one unit per context from the pad to the store. After a cancellation between two
  ///     saves, the changes stay pending in the context that received them last.
  ///   - isolation: The caller's isolation; omit it.
  /// - Throws: Errors of saving, such as validation errors; the pad and its contents then remain.
  ///   `CocoaError.userCancelled`.
  public func saveToStore(
    progress: Progress? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws {
    precondition(!_isClosed, "the scratch pad was cancelled; open another one")
    try await context.saveContextToStore(progress: progress)
  }

  /// Discards all unsaved changes. The pad cannot be used afterwards.
  ///
  /// ```swift
  /// let pad = try ScratchPad(editing: book)
  /// pad.object.title = ""
  /// pad.cancel()  // the book has its title still
  /// ```
  public func cancel() {
    _isClosed = true
    context.performAndWait { context.reset() }
  }
}
