import CoreData

/// Two coordinators that share only the file.
///
/// After each save main refreshes like a screen that shows one page: it discards its objects, counts those
/// of the list, and fetches the first fifty. If a complete list is kept live, main merges the save instead.
final class SharedStoreStack: ImportStack {
  let main: NSManagedObjectContext
  let importing: NSManagedObjectContext
  private let _coordinators: [NSPersistentStoreCoordinator]
  private let _listing: ImportListing
  private let _merges: Bool
  private let _pending: PendingWork
  private let _observation: SaveObservation

  /// - Parameter coordinators: Main's and the importing context's.
  convenience init(
    _ coordinators: [NSPersistentStoreCoordinator], _ listing: ImportListing, merges: Bool
  ) {
    self.init(
      coordinators, listing, merges, coordinators[0].makeContext(.mainQueueConcurrencyType), PendingWork())
  }

  private init(
    _ coordinators: [NSPersistentStoreCoordinator], _ listing: ImportListing, _ merges: Bool,
    _ main: NSManagedObjectContext, _ pending: PendingWork
  ) {
    (_coordinators, _listing, _merges, self.main, _pending) = (coordinators, listing, merges, main, pending)
    importing = coordinators[1].makeContext()
    _observation = SaveObservation(of: importing) { [main, pending] saved in
      pending.performInTurn(on: main) {
        if merges {
          main.mergeChanges(fromContextDidSave: saved.notification)
        } else {
          try Self._refetch(main, listing)
        }
      }
    }
  }

  func save() throws { try importing.save() }

  func drain() throws { try _pending.wait() }

  func beside() -> any ImportStack { SharedStoreStack(_coordinators, _listing, _merges, main, _pending) }

  func close() throws {
    _observation.end()
    for coordinator in _coordinators { try coordinator.removeStores() }
  }

  private static func _refetch(_ main: NSManagedObjectContext, _ listing: ImportListing) throws {
    main.refreshAllObjects()
    let request = NSFetchRequest<NSManagedObject>(entityName: listing.entity)
    _ = try main.count(for: request)
    request.sortDescriptors = [NSSortDescriptor(key: listing.order, ascending: true)]
    request.fetchLimit = 50
    for object in try main.fetch(request) { _ = object.value(forKey: listing.label) }
  }
}
