import CoreData
import CoreDataToolKit
import Foundation

/// A list of all items by name on the main queue, like one on a screen: it follows every change, and rereads
/// the visible rows after each round.
final class ListScreen: Screen, @unchecked Sendable {
  // Unchecked: used on the main queue only.
  private let _controller: NSFetchedResultsController<LoadItem>
  private let _delegate: Delegate
  let main: NSManagedObjectContext

  /// Opens the list. Not to be called on the main queue.
  init(_ main: NSManagedObjectContext, _ instruments: Instruments) throws {
    self.main = main
    _controller = NSFetchedResultsController(
      fetchRequest: LoadItem.all(), managedObjectContext: main, sectionNameKeyPath: nil, cacheName: nil)
    _delegate = Delegate(instruments.ages)
    _controller.delegate = _delegate
    instruments.contexts.add(main)
    try main.performAndWait { try _controller.performFetch() }
  }

  /// A main-queue context of a coordinator, with automatic merging.
  static func mergingContext(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = coordinator
    main.automaticallyMergesChangesFromParent = true
    return main
  }

  func perform(_ block: @escaping @Sendable () -> Void) { main.perform(block) }

  /// Merges, and saves what is left: Core Data keeps objects that a merge has deleted until then.
  func settle() throws { try main.performAndWait { if main.hasChanges { try main.save() } } }

  /// The ID of a row of the list, as a user chooses one; nil if the list is empty.
  ///
  /// - Parameter choice: Any number.
  func row(_ choice: UInt64) -> NSManagedObjectID? {
    DispatchQueue.main.sync {
      let objects = _controller.fetchedObjects ?? []
      return objects.isEmpty ? nil : objects[Int(choice % UInt64(objects.count))].objectID
    }
  }

  /// Compares the list, the context and the store, to which nothing is written meanwhile.
  ///
  /// - Returns: What differs, a sentence each.
  func differences() throws -> [String] {
    let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    reader.persistentStoreCoordinator = main.persistentStoreCoordinator
    let stored = try reader.performAndWait { try reader.fetch(LoadItem.all()).map(Row.init) }
    return try main.performAndWait {
      var found: [String] = []
      let objects = _controller.fetchedObjects ?? []
      let ghosts = objects.filter { $0.isDeleted || $0.managedObjectContext == nil }.count
      if ghosts > 0 { found.append("the list has \(ghosts) deleted objects") }
      let listed = objects.map(Row.init)
      if let difference = Self._difference(listed, stored) { found.append("the list " + difference) }
      let fetched = try main.fetch(LoadItem.all()).map(Row.init)
      if let difference = Self._difference(fetched, stored) { found.append("a fetch on main " + difference) }
      let deleted = main.registeredObjects.count { $0.isDeleted }
      if deleted > 0 { found.append("main has \(deleted) deleted objects registered") }
      return found
    }
  }

  /// Says how rows differ from those of the store, with the first of each kind; nil if they are equal.
  private static func _difference(_ shown: [Row], _ stored: [Row]) -> String? {
    if shown == stored { return nil }
    let (shownIDs, storedIDs) = (Set(shown.map(\.id)), Set(stored.map(\.id)))
    let ghosts = shown.filter { !storedIDs.contains($0.id) }
    let missing = stored.filter { !shownIDs.contains($0.id) }
    var words = "shows \(shown.count) rows and not the \(stored.count) of the store"
    if let first = ghosts.first { words += "; \(counted(ghosts.count, "ghost")), such as \(first)" }
    if let first = missing.first { words += "; \(missing.count) missing, such as \(first)" }
    if ghosts.isEmpty, missing.isEmpty, let first = zip(shown, stored).first(where: { $0 != $1 }) {
      words += "; the first difference is \(first.0) in the place of \(first.1)"
    }
    return words
  }

  /// What a row shows.
  private struct Row: Hashable, CustomStringConvertible {
    let id: URL
    let name: String?
    let revision: Int64

    var description: String { "'\(name ?? "nil")' of revision \(revision) (\(id.lastPathComponent))" }

    init(_ item: LoadItem) {
      id = item.objectID.uriRepresentation()
      name = item.name
      revision = item.revision
    }
  }

  /// The controller's delegate, which does what a screen has to.
  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
    /// Rows that fit on a screen.
    private static let _visible = 20
    private let _ages: AgeMeter
    /// The newest save of each saver in this round.
    private var _newest: [Int: Int64] = [:]

    init(_ ages: AgeMeter) { _ages = ages }

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      guard type != .delete, let item = anObject as? LoadItem else { return }
      let (saver, revision) = (Int(item.saver), item.revision)
      if revision > _newest[saver] ?? 0 { _newest[saver] = revision }
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      let rows = controller.sections?.first?.numberOfObjects ?? 0
      for row in 0..<min(Self._visible, rows) {
        _ = (controller.object(at: IndexPath(row: row, section: 0)) as? LoadItem)?.name
      }
      for (saver, revision) in _newest { _ages.track(saver)?.show(UInt64(revision)) }
      _newest.removeAll(keepingCapacity: true)
    }
  }
}
