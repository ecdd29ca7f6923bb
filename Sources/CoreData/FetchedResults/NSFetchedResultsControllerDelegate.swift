import Foundation

/// The kind of change of an object or section; raw values match Apple's.
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
  /// Text of the value shared by the section's objects; empty without section key path.
  var name: String { get }
  /// Title in an index beside the list.
  var indexTitle: String? { get }
  /// Number of objects.
  var numberOfObjects: Int { get }
  /// The objects in order.
  var objects: [Any]? { get }
}

/// Receives changes of a controller's results. All methods are optional and called on the context's queue.
///
/// `controller` is passed with the type that all delegates share: since Swift's generics do not convert, it
/// is another instance than your `NSFetchedResultsController<Book>`, with the same results. `==` and `===`
/// between the two hold. Unlike in Core Data, any delegate enables the observation of changes, because
/// unimplemented methods cannot be detected before they are called.
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
  /// Called before the changes of a round are reported. The results already have their new state.
  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// A section was inserted or deleted.
  ///
  /// - Parameter sectionIndex: The former index of a deleted section, or the new index of an inserted one.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
    for type: NSFetchedResultsChangeType)

  /// An object was inserted, deleted, moved or changed.
  ///
  /// - Parameters:
  ///   - indexPath: The index path before the round of changes; nil for an insertion.
  ///   - newIndexPath: The index path after it; nil for a deletion.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?)

  /// Called after the changes of a round have been reported.
  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>)

  /// Reports all results after a round of changes, and after each `performFetch()`. If implemented, no other
  /// method except `sectionIndexTitleForSectionName` is called.
  ///
  /// Section identifiers are section names (a single empty name without section key path), item identifiers
  /// the objects' IDs. Updated and moved objects are marked with `reloadItems(withIdentifiers:)`. Inserted
  /// objects have temporary IDs until they are saved, which triggers another snapshot.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference)

  /// Reports a whole round of changes, for a controller without sections. If implemented, the methods above
  /// are not called.
  ///
  /// A move is an associated removal and insertion; a round with only updates is an empty difference.
  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>)

  /// Returns the index title of a section; by default the capitalized first letter of its name.
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

  /// The default: makes the controller call the other methods instead.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) {
    controller.core.isSnapshotMissing = true
  }

  /// The default: makes the controller call the other methods instead.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
  ) {
    controller.core.isDifferenceMissing = true
  }

  /// Returns the capitalized first letter of the name.
  public func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    sectionIndexTitleForSectionName sectionName: String
  ) -> String? {
    FetchedResultsCore.initial(of: sectionName)
  }
}
