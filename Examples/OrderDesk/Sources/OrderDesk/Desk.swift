import CoreData
import CoreDataPostgreSQL
import Foundation

/// The database that all processes share.
struct Desk {
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
}
