import CoreData
import CoreDataStacks
import Foundation

/// Where a scenario's store is.
package struct LoadStore: Sendable {
  package let url: URL
  /// The type of the store, as its coordinator knows it.
  package let type: String

  package init(_ url: URL, type: String = NSSQLiteStoreType) {
    self.url = url
    self.type = type
  }

  /// A coordinator with the store, which is made if it does not exist.
  ///
  /// - Parameters:
  ///   - isFollowed: Whether the store keeps a history and posts remote changes.
  ///   - instruments: Receives the coordinator's cache.
  func coordinator(isFollowed: Bool = false, _ instruments: Instruments? = nil) throws
    -> NSPersistentStoreCoordinator
  {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: LoadModel.make())
    let options: [AnyHashable: Any] = isFollowed ? HistoryFollower.storeOptions : [:]
    try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    instruments?.caches.add { [weak coordinator] in coordinator?.emptyRowCache() }
    return coordinator
  }
}
