import CoreData

/// Two coordinators that share only the file.
///
/// After each save main refreshes like a screen that shows one page: it discards its objects, counts the
/// stops, and fetches the first fifty. If a complete list is kept live, main merges the save instead.
final class SharedStoreStack: ImportStack {
  let main: NSManagedObjectContext
  let importing: NSManagedObjectContext
  private let _coordinators: [NSPersistentStoreCoordinator]
  private let _pending = PendingWork()
  private let _observation: SaveObservation

  init(on store: ImportStore, merges: Bool) throws {
    // Sequentially: the first one creates the file.
    _coordinators = [try .forStops(in: store), try .forStops(in: store)]
    main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = _coordinators[0]
    importing = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    importing.persistentStoreCoordinator = _coordinators[1]
    _observation = SaveObservation(of: importing) { [main, _pending] saved in
      _pending.performInTurn(on: main) {
        if merges {
          main.mergeChanges(fromContextDidSave: saved.notification)
        } else {
          try Self._refetch(main)
        }
      }
    }
  }

  func save() throws { try importing.save() }

  func drain() throws { try _pending.wait() }

  func close() throws {
    _observation.end()
    for coordinator in _coordinators { try coordinator.removeStores() }
  }

  private static func _refetch(_ main: NSManagedObjectContext) throws {
    main.refreshAllObjects()
    let request = NSFetchRequest<NSManagedObject>(entityName: StopModel.entityName)
    _ = try main.count(for: request)
    request.sortDescriptors = [NSSortDescriptor(key: "identifier", ascending: true)]
    request.fetchLimit = 50
    for stop in try main.fetch(request) { _ = stop.value(forKey: "name") }
  }
}
