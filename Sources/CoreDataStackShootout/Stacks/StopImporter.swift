import CoreData
import Foundation
import Synchronization

/// The import itself, in plain, ordinary Core Data code.
struct StopImporter: Sendable {
  let stops: [Stop]
  let mode: ImportMode
  let saveEvery: Int

  /// Imports everything on the importing context's queue, saving at intervals.
  ///
  /// - Returns: the time at which the importing context had saved.
  func run(in stack: any ImportStack, progress: @escaping @Sendable (Int) -> Void) throws -> [UInt64] {
    let outcome = Outcome()
    let isDone = DispatchSemaphore(value: 0)
    stack.importing.perform {
      outcome.result.withLock { $0 = Result { try _import(into: stack, progress) } }
      isDone.signal()
    }
    isDone.wait()
    return try outcome.result.withLock { $0 }.get()
  }

  /// The result that the importing queue returns.
  private final class Outcome: Sendable {
    let result = Mutex<Result<[UInt64], any Error>>(.success([]))
  }

  private func _import(into stack: any ImportStack, _ progress: (Int) -> Void) throws -> [UInt64] {
    let context = stack.importing
    var saves: [UInt64] = []
    var start = 0
    while start < stops.count {
      let end = saveEvery < stops.count - start ? start + saveEvery : stops.count
      switch mode {
      case .findOrCreate: try _findOrCreate(stops[start..<end], in: context)
      case .bulk: try _findInBulk(stops[start..<end], in: context)
      case .insert: for stop in stops[start..<end] { _fill(_insert(into: context), with: stop) }
      }
      try stack.save()
      saves.append(MonotonicClock.now)
      progress(end)
      start = end
    }
    return saves
  }

  private func _findOrCreate(_ batch: ArraySlice<Stop>, in context: NSManagedObjectContext) throws {
    for stop in batch {
      let request = NSFetchRequest<NSManagedObject>(entityName: StopModel.entityName)
      request.predicate = NSPredicate(format: "identifier == %@", stop.identifier)
      request.fetchLimit = 1
      _fill(try context.fetch(request).first ?? _insert(into: context), with: stop)
    }
  }

  private func _findInBulk(_ batch: ArraySlice<Stop>, in context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: StopModel.entityName)
    request.predicate = NSPredicate(format: "identifier IN %@", batch.map(\.identifier))
    request.returnsObjectsAsFaults = false
    var known: [String: NSManagedObject] = [:]
    for object in try context.fetch(request) {
      if let identifier = object.value(forKey: "identifier") as? String { known[identifier] = object }
    }
    for stop in batch {
      let object = known[stop.identifier] ?? _insert(into: context)
      known[stop.identifier] = object
      _fill(object, with: stop)
    }
  }

  private func _insert(into context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: StopModel.entityName, into: context)
  }

  private func _fill(_ object: NSManagedObject, with stop: Stop) {
    object.setValue(stop.identifier, forKey: "identifier")
    object.setValue(stop.name, forKey: "name")
    object.setValue(stop.latitude, forKey: "latitude")
    object.setValue(stop.longitude, forKey: "longitude")
  }
}
