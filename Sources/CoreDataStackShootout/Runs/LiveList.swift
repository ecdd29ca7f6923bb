import CoreData
import Foundation

/// What a list on main was told during an import.
struct ListFigures: Sendable, Codable, Equatable {
  /// Stops in the list afterwards.
  var rows: Int
  /// Rounds of changes: what a screen would animate at once.
  var rounds: Int
  /// Insertions, deletions, moves and updates of those rounds together.
  var changes: Int
}

/// A list of all stops by name on the main context, as a screen keeps it: it follows every change, and after
/// each round the rows in sight are read again.
final class LiveList: @unchecked Sendable {
  // Unchecked: made and used on the main context's queue only.
  private let _controller: NSFetchedResultsController<NSManagedObject>
  private let _screen = Screen()

  /// Opens the list. To be called on the context's queue.
  init(_ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: StopModel.entityName)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    _controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    _controller.delegate = _screen
    try _controller.performFetch()
  }

  /// Compares the list with the store. To be called on the context's queue.
  ///
  /// - Throws: `StoreCheck.Failure` if the list does not show what the store holds, in the order asked for.
  func check() throws -> ListFigures {
    let request = NSFetchRequest<NSDictionary>(entityName: StopModel.entityName)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name"]
    request.sortDescriptors = _controller.fetchRequest.sortDescriptors
    let stored = try _controller.managedObjectContext.fetch(request).map { $0["name"] as? String }
    let objects = _controller.fetchedObjects ?? []
    guard objects.map({ $0.value(forKey: "name") as? String }) == stored else {
      throw StoreCheck.Failure(
        description:
          "the list on main shows \(objects.count) stops, and not the \(stored.count) of the store by name")
    }
    guard Set(objects.map(\.objectID)).count == objects.count else {
      throw StoreCheck.Failure(description: "the list on main shows a stop twice")
    }
    return ListFigures(rows: objects.count, rounds: _screen.rounds, changes: _screen.changes)
  }

  /// What is told of the changes.
  private final class Screen: NSObject, NSFetchedResultsControllerDelegate {
    /// Rows that fit on a screen.
    private static let _visible = 20
    var rounds = 0
    var changes = 0

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
          forKey: "name")
      }
    }
  }
}
