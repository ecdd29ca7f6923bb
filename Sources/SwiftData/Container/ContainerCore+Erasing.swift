import CoreData

extension ContainerCore {
  /// Deletes all rows of all stores, entity by entity; contexts reread their models.
  ///
  /// - Throws: An error of a store that can't be written.
  func erase() throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    defer { deliverReset() }
    for store in customStores {
      try store.erase()
      store.bridge.removeAll()
    }
    try context.performAndWait {
      var left = coordinator.managedObjectModel.entities.filter {
        $0.superentity == nil && customStore(of: $0.name ?? "") == nil
      }.compactMap(\.name)
      while !left.isEmpty {
        var refused: [String] = []
        var reason: (any Error)?
        for name in left {
          do {
            try context.execute(
              NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: name)))
          } catch {
            // Rows that others require are deleted after those.
            refused.append(name)
            reason = error
          }
        }
        if refused.count == left.count, let reason { throw reason }
        left = refused
      }
    }
  }
}
