import CoreData
import Foundation

/// Lists that a results controller keeps.
extension GrowthCase {
  static var lists: [GrowthCase] {
    [
      GrowthCase("list-change", "A row of a list of n moved, told to the delegate.", size: 2000, short: 500) {
        bench in
        try _withList(bench) { context, list, follower in
          let tracks = list.fetchedObjects!.prefix(100)
          bench.measure(units: 100) {
            for track in tracks {
              track.number = Int64(bench.size) - track.number
              context.processPendingChanges()
            }
          }
          try bench.expect(follower.changes >= 99, true)
        }
      },
      GrowthCase(
        "list-read", "fetchedObjects after a change, a list of n.", size: 2000, short: 500, law: .uncached
      ) { bench in
        // A change moves the elements after it in the cached array.
        try _withList(bench) { context, list, _ in
          let tracks = list.fetchedObjects!.prefix(50)
          var found = 0
          bench.measure(units: 50) {
            for track in tracks {
              track.number += 3
              context.processPendingChanges()
              found += list.fetchedObjects!.count
            }
          }
          try bench.expect(found, bench.size * 50)
        }
      },
      GrowthCase(
        "list-snapshot", "A change told as a snapshot, which the delegate keeps, a list of n.", size: 2000,
        short: 500, law: .linear
      ) { bench in
        // The snapshot keeps its items when the list changes, so that they are copied: 26 ns each.
        let keeper = _Keeper()
        try _withList(bench) { context, list, _ in
          let tracks = list.fetchedObjects!.prefix(50)
          list.delegate = keeper
          try list.performFetch()
          bench.measure(units: 50) {
            for track in tracks {
              track.number += 3
              context.processPendingChanges()
            }
          }
          try bench.expect(keeper.last?.numberOfItems ?? 0, bench.size)
        }
      },
      GrowthCase("list-delete", "One of n rows deleted, all in one turn.", size: 2000, short: 500) { bench in
        try _withList(bench) { context, list, follower in
          let tracks = list.fetchedObjects!
          bench.measure(units: bench.size) {
            for track in tracks { context.delete(track) }
            context.processPendingChanges()
          }
          try bench.expect(follower.changes, bench.size)
        }
      },
      GrowthCase("list-sections", "One of n sections renamed, all in one turn.", size: 1000, short: 300) {
        bench in
        try _withList(bench, sections: "plays") { context, list, follower in
          try bench.expect(list.sections!.count, bench.size)
          let tracks = list.fetchedObjects!
          bench.measure(units: bench.size) {
            for track in tracks { track.plays = -track.plays - 1 }
            context.processPendingChanges()
          }
          try bench.expect(follower.changes >= bench.size - 1, true)
        }
      },
      GrowthCase(
        "list-passed-on", "A child's save passed on by a context with a list of n, whose IDs are temporary.",
        size: 2000, short: 500
      ) { bench in
        let middle = try bench.container().newBackgroundContext().newChild()
        let child = middle.newChild()
        let follower = _Follower()
        let list = try middle.performAndWait {
          let list = NSFetchedResultsController(
            fetchRequest: NSFetchRequest<Track>.tracks(), managedObjectContext: middle,
            sectionNameKeyPath: nil, cacheName: nil)
          list.delegate = follower
          try list.performFetch()
          return list
        }
        func save() throws {
          try child.performAndWait { try child.save() }
          try middle.performAndWait { try middle.save() }
        }
        let tracks = child.performAndWait { child.insertTracks(0..<bench.size) }
        try save()
        try bench.measure(units: 100) {
          for track in tracks.prefix(100) {
            child.performAndWait { track.plays += 1 }
            try save()
          }
        }
        try middle.performAndWait {
          try bench.expect(list.fetchedObjects!.count, bench.size)
          try bench.expect(follower.changes, bench.size + 100)
        }
      },
    ]
  }

  /// Runs a body with a controller over as many tracks as the size says, and its delegate.
  private static func _withList(
    _ bench: GrowthBench, sections: String? = nil,
    _ body: (NSManagedObjectContext, NSFetchedResultsController<Track>, _Follower) throws -> Void
  ) throws {
    let context = try bench.containerOfTracks().newBackgroundContext()
    try context.performAndWait {
      let request = NSFetchRequest<Track>.tracks()
      if let sections { request.sortDescriptors!.insert(.init(key: sections, ascending: true), at: 0) }
      let list = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
      let follower = _Follower()
      list.delegate = follower
      try list.performFetch()
      try bench.expect(list.fetchedObjects!.count, bench.size)
      try withExtendedLifetime(follower) { try body(context, list, follower) }
    }
  }
}

/// Keeps the last snapshot, as a data source does.
private final class _Keeper: NSObject, NSFetchedResultsControllerDelegate {
  var last: NSDiffableDataSourceSnapshotReference?

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChangeContentWith snapshot: NSDiffableDataSourceSnapshotReference
  ) { last = snapshot }
}

/// Counts the rows that a controller tells of.
private final class _Follower: NSObject, NSFetchedResultsControllerDelegate {
  var changes = 0

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) { changes += 1 }
}
