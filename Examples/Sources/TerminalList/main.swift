// A departure board in a terminal: an NSFetchedResultsController keeps it live while a background context
// works. A terminal redraws the board in place; other outputs receive each state.
//
//   swift run TerminalList

import CoreData
import Foundation

/// Draws the controller's objects after each round of changes.
@MainActor final class Board: NSObject, @preconcurrency NSFetchedResultsControllerDelegate {
  private let _list: NSFetchedResultsController<Departure>
  private var _changes: [String] = []
  private var _drawnLines = 0
  private let _isTerminal = isatty(STDOUT_FILENO) == 1

  init(_ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<Departure>(entityName: "Departure")
    request.sortDescriptors = ["line", "minute", "destination"].map {
      NSSortDescriptor(key: $0, ascending: true)
    }
    _list = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "line", cacheName: nil)
    super.init()
    _list.delegate = self
    try _list.performFetch()
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    func place(_ path: IndexPath?) -> String { path.map { "\($0.section).\($0.item)" } ?? "?" }
    switch type {
    case .insert: _changes.append("+\(place(newIndexPath))")
    case .delete: _changes.append("-\(place(indexPath))")
    case .update: _changes.append("~\(place(indexPath))")
    case .move: _changes.append("\(place(indexPath))>\(place(newIndexPath))")
    @unknown default: break
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    draw()
    _changes = []
  }

  func draw() {
    var lines = [(["Departures"] + _changes).joined(separator: " ")]
    for section in _list.sections ?? [] {
      lines.append("  \(section.name)")
      for case let departure as Departure in section.objects ?? [] {
        lines.append("    in \(departure.minute) min  \(departure.destination ?? "")")
      }
    }
    if _isTerminal, _drawnLines > 0 { print("\u{1B}[\(_drawnLines)A\u{1B}[J", terminator: "") }
    print(lines.joined(separator: "\n"))
    _drawnLines = lines.count
  }
}

@MainActor func run() async throws {
  let container = NSPersistentContainer(name: "Departures")
  // The board exists only while the program runs.
  container.persistentStoreDescriptions = [
    NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
  ]
  var failure: (any Error)?
  container.loadPersistentStores { failure = $1 }
  if let failure { throw failure }
  container.viewContext.automaticallyMergesChangesFromParent = true
  let board = try Board(container.viewContext)
  board.draw()

  /// Makes a change in the background, then pauses for the board to be read.
  func change(_ body: @escaping @Sendable (NSManagedObjectContext) throws -> Void) async throws {
    try await container.performBackgroundTask { context in
      try body(context)
      try context.save()
    }
    try await Task.sleep(for: isatty(STDOUT_FILENO) == 1 ? .milliseconds(900) : .milliseconds(100))
  }

  try await change { context in
    for (line, destination, minute) in [("M4", "Falkplatz", 3), ("S1", "Wannsee", 5), ("M4", "Zoo", 9)] {
      let departure = Departure(context: context)
      (departure.line, departure.destination, departure.minute) = (line, destination, Int32(minute))
    }
  }
  try await change { context in
    for departure in try context.fetch(NSFetchRequest<Departure>(entityName: "Departure")) {
      departure.minute -= 2
    }
  }
  try await change { context in
    let request = NSFetchRequest<Departure>(entityName: "Departure")
    request.predicate = NSPredicate(format: "minute <= 1")
    for departure in try context.fetch(request) { context.delete(departure) }
    let late = Departure(context: context)
    (late.line, late.destination, late.minute) = ("S1", "Potsdam", 1)
  }
}

try await run()
