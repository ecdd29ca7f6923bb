import CoreData
import Foundation

/// The changes that a list on main received during an import.
struct ListFigures: Sendable, Codable, Equatable {
  /// Objects in the list at the end.
  var rows: Int
  /// Rounds of changes: each is one animation on a screen.
  var rounds: Int
  /// Total number of insertions, deletions, moves and updates in those rounds.
  var changes: Int
}

/// A list of all objects of the import by their label on the main context, like one on a screen: it follows every change, and
/// rereads the visible rows after each round.
final class LiveList: @unchecked Sendable {
  // Unchecked: created and used only on the main context's queue.
  private let _controller: NSFetchedResultsController<NSManagedObject>
  private let _screen: Screen
  private let _listing: ImportListing

  /// Opens the list. To be called on the context's queue.
  init(_ context: NSManagedObjectContext, _ listing: ImportListing) throws {
    (_listing, _screen) = (listing, Screen(listing))
    let request = NSFetchRequest<NSManagedObject>(entityName: listing.entity)
    request.sortDescriptors = [NSSortDescriptor(key: listing.label, ascending: true)]
    _controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    _controller.delegate = _screen
    try _controller.performFetch()
  }

  /// Compares the list with the store. Call it on the context's queue.
  ///
  /// - Throws: `StoreCheck.Failure` if the list does not equal the store's contents in the requested order.
  func check() throws -> ListFigures {
    let request = NSFetchRequest<NSDictionary>(entityName: _listing.entity)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [_listing.label]
    request.sortDescriptors = _controller.fetchRequest.sortDescriptors
    let stored = try _controller.managedObjectContext.fetch(request).map { $0[_listing.label] as? NSObject }
    let objects = _controller.fetchedObjects ?? []
    guard objects.map({ $0.value(forKey: _listing.label) as? NSObject }) == stored else {
      throw StoreCheck.Failure(
        description:
          "the list on main shows \(objects.count) objects, and not the \(stored.count) of the store by \(_listing.label)"
      )
    }
    guard Set(objects.map(\.objectID)).count == objects.count else {
      throw StoreCheck.Failure(description: "the list on main shows an object twice")
    }
    return ListFigures(rows: objects.count, rounds: _screen.rounds, changes: _screen.changes)
  }

  /// The controller's delegate.
  private final class Screen: NSObject, NSFetchedResultsControllerDelegate {
    /// Rows that fit on a screen.
    private static let _visible = 20
    private let _listing: ImportListing
    var rounds = 0
    var changes = 0

    init(_ listing: ImportListing) { _listing = listing }

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      changes += 1
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      rounds += 1
      let rows = controller.sections?.first?.numberOfObjects ?? 0
      for row in 0..<min(Self._visible, rows) {
        _ = (controller.object(at: IndexPath(row: row, section: 0)) as? NSManagedObject)?.value(
          forKey: _listing.label)
      }
    }
  }
}
