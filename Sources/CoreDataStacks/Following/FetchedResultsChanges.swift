import CoreData
import Foundation

/// Receives changes of a typed controller's results on the context's queue. Default implementations do
/// nothing.
///
/// ```swift
/// final class BookList: FetchedResultsControllerDelegate {
///   func fetchedResultsController(
///     _ controller: FetchedResultsController<Book>, didChangeObject change: FetchedResultsObjectChange<Book>
///   ) {
///     switch change {
///     case .insert(let book, let path): print("+", path, book.title ?? "")
///     case .delete(let book, let path): print("-", path, book.title ?? "")
///     case .move(let book, let old, let new): print(old, "to", new, book.title ?? "")
///     case .update(let book, let path): print("~", path, book.title ?? "")
///     }
///   }
/// }
/// ```
public protocol FetchedResultsControllerDelegate: AnyObject {
  /// Class of the objects.
  associatedtype T: NSManagedObject

  /// An object was inserted, deleted, moved or changed.
  func fetchedResultsController(
    _ controller: FetchedResultsController<T>, didChangeObject change: FetchedResultsObjectChange<T>)

  /// A section was inserted or deleted.
  func fetchedResultsController(
    _ controller: FetchedResultsController<T>, didChangeSection change: FetchedResultsSectionChange<T>)

  /// Called before the changes of a round.
  func fetchedResultsControllerWillChangeContent(_ controller: FetchedResultsController<T>)

  /// Called after the changes of a round.
  func fetchedResultsControllerDidChangeContent(_ controller: FetchedResultsController<T>)

  /// Called after a fetch, failed or not.
  func fetchedResultsControllerDidPerformFetch(_ controller: FetchedResultsController<T>)
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func fetchedResultsController(
    _ controller: FetchedResultsController<T>, didChangeObject change: FetchedResultsObjectChange<T>
  ) {}

  /// Does nothing.
  public func fetchedResultsController(
    _ controller: FetchedResultsController<T>, didChangeSection change: FetchedResultsSectionChange<T>
  ) {}

  /// Does nothing.
  public func fetchedResultsControllerWillChangeContent(_ controller: FetchedResultsController<T>) {}

  /// Does nothing.
  public func fetchedResultsControllerDidChangeContent(_ controller: FetchedResultsController<T>) {}

  /// Does nothing.
  public func fetchedResultsControllerDidPerformFetch(_ controller: FetchedResultsController<T>) {}
}

/// A change of one object. Old index paths are before, new ones after the round of changes.
public enum FetchedResultsObjectChange<T: NSManagedObject> {
  /// Inserted at this position.
  case insert(object: T, indexPath: IndexPath)
  /// Deleted from this position.
  case delete(object: T, indexPath: IndexPath)
  /// Moved, and possibly changed.
  case move(object: T, fromIndexPath: IndexPath, toIndexPath: IndexPath)
  /// Changed in place.
  case update(object: T, indexPath: IndexPath)

  /// Nil for an inconsistent change, such as an insertion with an old index path.
  init?(_ object: T, _ type: NSFetchedResultsChangeType, _ old: IndexPath?, _ new: IndexPath?) {
    switch (type, old, new) {
    case (.insert, nil, let new?): self = .insert(object: object, indexPath: new)
    case (.delete, let old?, _): self = .delete(object: object, indexPath: old)
    case (.move, let old?, let new?) where old == new: self = .update(object: object, indexPath: old)
    case (.move, let old?, let new?): self = .move(object: object, fromIndexPath: old, toIndexPath: new)
    case (.update, let old?, _): self = .update(object: object, indexPath: old)
    default: return nil
    }
  }
}

/// A change of one section. Indexes of deleted ones are before, of inserted ones after the round of changes.
public enum FetchedResultsSectionChange<T: NSManagedObject> {
  /// Inserted at this position.
  case insert(info: FetchedResultsSectionInfo<T>, index: Int)
  /// Deleted from this position.
  case delete(info: FetchedResultsSectionInfo<T>, index: Int)
}

/// A section of a typed controller.
public struct FetchedResultsSectionInfo<T: NSManagedObject> {
  /// The objects in order.
  public let objects: [T]
  /// Text of the value that the objects share.
  public let name: String
  /// Title in an index beside the list.
  public let indexTitle: String?

  init(_ info: any NSFetchedResultsSectionInfo) {
    objects = info.objects as? [T] ?? []
    name = info.name
    indexTitle = info.indexTitle
  }
}

/// One round of changes of a controller's results, free of its context.
public struct FetchedResultsUpdate<T: NSManagedObject>: Sendable {
  /// Inserted objects, with their places.
  public fileprivate(set) var inserted: [(id: ObjectID<T>, at: IndexPath)] = []
  /// Deleted objects, with their former places.
  public fileprivate(set) var deleted: [(id: ObjectID<T>, at: IndexPath)] = []
  /// Moved objects.
  public fileprivate(set) var moved: [(id: ObjectID<T>, from: IndexPath, to: IndexPath)] = []
  /// Objects changed in place, with their former places.
  public fileprivate(set) var updated: [(id: ObjectID<T>, at: IndexPath)] = []
  /// Inserted sections.
  public internal(set) var insertedSections: [Int] = []
  /// Deleted sections.
  public internal(set) var deletedSections: [Int] = []
  /// Number of results afterwards.
  public internal(set) var count = 0

  mutating func add(_ change: FetchedResultsObjectChange<T>) {
    switch change {
    case .insert(let object, let path): inserted.append((ObjectID(object), path))
    case .delete(let object, let path): deleted.append((ObjectID(object), path))
    case .move(let object, let old, let new): moved.append((ObjectID(object), old, new))
    case .update(let object, let path): updated.append((ObjectID(object), path))
    }
  }
}
