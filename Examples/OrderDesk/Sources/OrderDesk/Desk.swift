import CoreData
import CoreDataPostgreSQL
import Foundation

/// The database that all processes share.
struct Desk: Sendable {
  let container: NSPersistentContainer

  init(_ url: URL) throws {
    container = NSPersistentContainer(name: "Orders")
    let description = NSPersistentStoreDescription(postgreSQL: url)
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    container.persistentStoreDescriptions = [description]
    // Stores are loaded synchronously.
    nonisolated(unsafe) var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
  }

  /// Whether the database answers.
  var isReady: Bool {
    let context = container.newBackgroundContext()
    return context.performAndWait {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Order")
      request.resultType = .managedObjectIDResultType
      request.fetchLimit = 1
      return (try? context.fetch(request)) != nil
    }
  }

  /// Gives the connections back.
  func close() {
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }
}
