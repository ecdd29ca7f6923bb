import CoreData
import Foundation

/// Figures of the engine that nothing in SQLite compares with.
struct EngineClaims {
  let store: EngineStore
  let objects: Int

  /// Imports one by one through a stack: seconds in all and of the main thread.
  func importing(_ design: EngineStack.Design, _ main: MainThreadWatch) throws -> [String: Double] {
    let stack = EngineStack(design, store.coordinator)
    defer { stack.end() }
    DispatchQueue.main.sync {}
    let watch = Stopwatch()
    main.begin()
    // Making the records counts here: the main thread may go on working meanwhile.
    try EngineFindOrCreate(stack: stack, count: objects, saveEvery: 250).run(watch)
    let busy = main.end()
    return ["total_s": watch.seconds, "main_busy_s": busy.total]
  }

  /// Changes objects in a worker and saves them at once through three levels: the longest block of the main
  /// thread.
  func savingAtOnce(_ main: MainThreadWatch) throws -> [String: Double] {
    let stack = EngineStack(.nested3, store.coordinator)
    defer { stack.end() }
    let watch = Stopwatch()
    try stack.worker.performAndWait {
      for stop in try stack.worker.fetch(Stop.fetchRequest()) { stop.code += 1 }
      DispatchQueue.main.sync {}
      main.begin()
      watch.resume()
      try stack.save()
    }
    try stack.settle()
    watch.pause()
    let busy = main.end()
    return ["total_s": watch.seconds, "main_busy_s": busy.total, "main_longest_ms": busy.longest * 1000]
  }

  /// What a controller over all stops takes to follow 100 changes saved elsewhere, in milliseconds.
  func merging() throws -> [String: Double] {
    let context = store.newContext()
    let delegate = Follower()
    let controller = try context.performAndWait {
      let request = Stop.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      let controller = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
      controller.delegate = delegate
      try controller.performFetch()
      return controller
    }
    let ids = try store.ids(SplitMix64.permutation(objects, seed: 17)[...])
    var times: [Double] = []
    for round in 0..<11 {
      let saved = try _save(ids[(round * 100)..<(round * 100 + 100)])
      let watch = Stopwatch()
      context.performAndWait {
        watch.time {
          context.mergeChanges(fromContextDidSave: saved)
          context.processPendingChanges()
        }
      }
      times.append(watch.seconds * 1000)
    }
    guard delegate.changes == 1100, controller.fetchedObjects?.count == objects else {
      throw Database.Failure(
        description: "the controller was told of \(delegate.changes) changes where there were 1,100")
    }
    return ["merge_ms": times.sorted()[times.count / 2]]
  }

  private func _save(_ ids: ArraySlice<NSManagedObjectID>) throws -> Notification {
    let context = store.newContext()
    // Told during the save, on this very thread.
    nonisolated(unsafe) var saved: Notification?
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { notification in saved = notification }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.performAndWait {
      for id in ids {
        guard let stop = try context.existingObject(with: id) as? Stop else { continue }
        stop.name = String((stop.name ?? "").reversed())
      }
      try context.save()
    }
    guard let saved else { throw Database.Failure(description: "a save was not announced") }
    return saved
  }

  /// Counts what a controller tells.
  private final class Follower: NSObject, NSFetchedResultsControllerDelegate {
    var changes = 0

    func controller(
      _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?,
      for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) { changes += 1 }
  }

  /// Fires faults one by one, of which the fetch brought no values. The statements show in the SQL log.
  func firing() throws -> [String: Double] {
    let context = store.newContext()
    return try context.performAndWait {
      let request = Stop.fetchRequest()
      request.includesPropertyValues = false
      request.fetchLimit = 10_000
      let stops = try context.fetch(request)
      let watch = Stopwatch()
      let sum = watch.time { stops.reduce(0) { $0 + $1.checksum } }
      guard sum > 0, !stops.contains(where: \.isFault) else {
        throw Database.Failure(description: "the faults were not fired")
      }
      return ["faults": Double(stops.count), "total_s": watch.seconds]
    }
  }

  /// Opens a controller over all stops in batches of fifty, and looks at the first and the last twenty: what
  /// opening takes in milliseconds, bytes that the process holds for each row, and objects that are filled.
  func listing() throws -> [String: Double] {
    func list(_ limit: Int) throws -> (NSFetchedResultsController<Stop>, Stopwatch) {
      let context = store.newContext()
      let watch = Stopwatch()
      let controller = try context.performAndWait {
        let request = Stop.fetchRequest()
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.fetchBatchSize = 50
        request.fetchLimit = limit
        let controller = NSFetchedResultsController(
          fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
        try watch.time { try controller.performFetch() }
        return controller
      }
      return (controller, watch)
    }
    // Once before, for what is made once only.
    _ = try list(100)
    let before = ProcessMemory.residentBytes
    let (controller, watch) = try list(0)
    return try controller.managedObjectContext.performAndWait {
      let count = controller.sections?[0].numberOfObjects ?? 0
      guard count == objects else { throw Database.Failure(description: "the list has \(count) rows") }
      let rows = Array(0..<20) + Array((count - 20)..<count)
      let sum = rows.reduce(0) { $0 + controller.object(at: IndexPath(item: $1, section: 0)).checksum }
      let bytes = ProcessMemory.residentBytes - before
      let filled = (0..<count).count { !controller.object(at: IndexPath(item: $0, section: 0)).isFault }
      guard sum > 0, filled >= rows.count else {
        throw Database.Failure(description: "\(filled) objects are filled")
      }
      return [
        "open_ms": watch.seconds * 1000, "bytes_per_row": bytes / Double(objects), "filled": Double(filled),
      ]
    }
  }

  /// Bytes that the process holds for each object of a fetch that fills them.
  func memory() throws -> [String: Double] {
    let context = store.newContext()
    return try context.performAndWait {
      // Once before, for what is made once only.
      let few = Stop.fetchRequest()
      few.fetchLimit = 100
      few.returnsObjectsAsFaults = false
      _ = try context.fetch(few)
      context.reset()
      let before = ProcessMemory.residentBytes
      let request = Stop.fetchRequest()
      request.returnsObjectsAsFaults = false
      let stops = try context.fetch(request)
      let bytes = ProcessMemory.residentBytes - before
      guard stops.count == objects else {
        throw Database.Failure(description: "\(stops.count) stops were fetched")
      }
      return ["bytes_per_object": bytes / Double(objects)]
    }
  }
}
