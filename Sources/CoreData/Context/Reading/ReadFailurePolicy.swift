import Foundation

/// What a context does if a store cannot be read where no error can be thrown: when a fault fires, or the
/// members of a to-many or a batch of results are loaded. Not in Core Data, which raises.
///
/// The policy is for errors that may pass, such as I/O errors, locks and lost connections. A **damaged**
/// value, one that no store writes or that cannot be read from its file, never ends the process: under either
/// policy its object, and no other, is treated as under `fail`.
///
/// ```swift
/// container.readFailurePolicy = .fail
/// try await container.performBackgroundTask { context in
///   for book in try context.fetch(Book.fetchRequest()) { book.title = book.title?.uppercased() }
///   try context.save()  // throws the error if one of the books could not be read
/// }
/// ```
public enum ReadFailurePolicy: Sendable {
  /// The process ends, as with the exception that Core Data raises.
  case trap
  /// The object stays a fault whose values are empty: optional ones are nil, others zero or empty, a required
  /// to-one is a fault that cannot be read either, and to-manys have no members.
  ///
  /// The next access reads again. A write to a fault that cannot be read is refused: nothing would be known
  /// of its other values. The object counts as changed, and saves fail.
  ///
  /// The context keeps the first error until `rollback()` or `reset()`. It throws it from `save()`, if an
  /// object that could not be read is among the changes; from `fetch(_:)`, `count(for:)` and
  /// `existingObject(with:)`; and at the end of a `perform` whose block can throw any error. It posts
  /// `NSManagedObjectContextReadDidFail`.
  case fail
}

extension NSManagedObjectContext {
  /// What happens if a store cannot be read where no error can be thrown. Inherited from the parent or the
  /// coordinator until it is set; `.trap` if none of them sets it. May be used from any thread. Not in Core
  /// Data.
  public final var readFailurePolicy: ReadFailurePolicy {
    get {
      failurePolicy.withLock { $0 } ?? _parent?.readFailurePolicy ?? _coordinator?.readFailurePolicy ?? .trap
    }
    set { failurePolicy.withLock { $0 = newValue } }
  }
}

extension NSPersistentContainer {
  /// What the contexts of the container's coordinator do, unless they set a policy of their own, if a store
  /// cannot be read where no error can be thrown; `.trap` by default. May be used from any thread. Not in
  /// Core Data.
  public final var readFailurePolicy: ReadFailurePolicy {
    get { persistentStoreCoordinator.readFailurePolicy }
    set { persistentStoreCoordinator.readFailurePolicy = newValue }
  }
}

extension NSNotification.Name {
  /// Posted by a context, on its queue, when a read has failed where no error could be thrown: once for each
  /// object until the context is rolled back or reset.
  ///
  /// A notification and not a closure of the context, so that one observer may watch all contexts, including
  /// those that the program does not create itself. The user info has the object's ID
  /// (`NSManagedObjectContextReadFailureObjectIDKey`) and the error (`NSUnderlyingErrorKey`). Not in Core
  /// Data.
  ///
  /// ```swift
  /// NotificationCenter.default.addObserver(
  ///   forName: .NSManagedObjectContextReadDidFail, object: nil, queue: nil
  /// ) { notification in
  ///   guard let error = notification.userInfo?[NSUnderlyingErrorKey] as? any Error else { return }
  ///   print("\(notification.userInfo?[NSManagedObjectContextReadFailureObjectIDKey] ?? "?"): \(error)")
  /// }
  /// ```
  public static let NSManagedObjectContextReadDidFail =
    NSNotification.Name("NSManagedObjectContextReadDidFailNotification")
}

/// Key for the ID of an object that could not be read.
public let NSManagedObjectContextReadFailureObjectIDKey = "objectID"
