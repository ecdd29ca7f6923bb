import Foundation

/// Kind of change of an object or a section; raw values are Apple's.
public enum NSFetchedResultsChangeType: UInt, Sendable {
  /// Inserted.
  case insert = 1
  /// Deleted.
  case delete = 2
  /// Moved, and possibly changed.
  case move = 3
  /// Changed in place.
  case update = 4
}

/// A section of a controller's results. Used on the context's queue.
///
/// ```swift
/// let names = controller.sections?.map { "\($0.name): \($0.numberOfObjects)" } ?? []
/// ```
public protocol NSFetchedResultsSectionInfo {
  /// Text of the value that the section's objects share; empty without section key path.
  var name: String { get }
  /// Title in an index beside the list.
  var indexTitle: String? { get }
  /// Number of objects.
  var numberOfObjects: Int { get }
  /// The objects in order.
  var objects: [Any]? { get }
}

/// Follows the results of a controller. All methods are optional and called on the context's queue.
///
/// `controller` shows the controller at the type that all delegates take: as Swift's generics do not convert,
/// it is another instance than an `NSFetchedResultsController<Book>` of yours, over the same results. `==`
/// and `===` between the two hold. Differs from Core Data in that any delegate at all has changes followed,
/// since an unimplemented method cannot be told here before it is called.
///
/// ```swift
/// final class BookList: NSObject, NSFetchedResultsControllerDelegate {
///   func controller(
///     _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
///     at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
///   ) {
///     switch type {
///     case .insert: print("insert at \(newIndexPath!)")
///     case .delete: print("delete at \(indexPath!)")
///     case .move: print("move from \(indexPath!) to \(newIndexPath!)")
///     case .update: print("update at \(indexPath!)")
///     }
///   }
/// }
/// let list = BookList()
/// controller.delegate = list
/// ```
public protocol NSFetchedResultsControllerDelegate: NSObjectProtocol {
  /// Called before the changes of a round. The results have their new state already.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// A section was inserted or deleted.
  ///
  /// - Parameter sectionIndex: Where it was before the round of changes (deleted) or is after it (inserted).
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// An object was inserted, deleted, moved or changed.
  ///
  /// - Parameters:
  ///   - indexPath: Where it was before the round of changes; nil for an inserted one.
  ///   - newIndexPath: Where it is after it; nil for a deleted one.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called after the changes of a round.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// All results after a round of changes, and after each `performFetch()`. When implemented, no other method
  /// but `sectionIndexTitleForSectionName` is called.
  ///
  /// Section identifiers are the names of the sections (one of an empty name without section key path), item
  /// identifiers the objects' IDs. Objects that were updated or moved are marked by
  /// `reloadItems(withIdentifiers:)`. Inserted objects have temporary IDs until they are saved; then another
  /// snapshot follows.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

  /// A whole round of changes, for a controller without sections. When implemented, the methods above are not
  /// called.
  ///
  /// A move is a removal and an insertion associated with each other; a round of mere updates is an empty
  /// difference.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// Index title of a section; by default the capital first letter of its name.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String?
}

extension NSFetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)
  {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
  }

  /// The default: the controller calls the other methods instead.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    controller.core.isSnapshotMissing = true
  }

  /// The default: the controller calls the other methods instead.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    controller.core.isDifferenceMissing = true
  }

  /// The capital first letter of the name.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    FetchedResultsCore.initial(of: sectionName)
  }
}
