import CoreData
import Foundation
import Synchronization

/// The IDs of the objects that a recording names: `Order/p12` of the store, `Order/t5` of one that was inserted while it ran.
final class ReplayObjects: Sendable {
  private let _coordinator: NSPersistentStoreCoordinator
  private let _inserted = Mutex<[String: NSManagedObjectID]>([:])

  init(_ coordinator: NSPersistentStoreCoordinator) { _coordinator = coordinator }

  func note(_ id: NSManagedObjectID, as name: String) { _inserted.withLock { $0[name] = id } }

  /// The ID of an object; nil if nothing has made it.
  func id(_ name: String) -> NSManagedObjectID? {
    if let known = _inserted.withLock({ $0[name] }) { return known }
    guard let slash = name.lastIndex(of: "/"), name[name.index(after: slash)...].first == "p",
      let key = Int64(name[name.index(slash, offsetBy: 2)...]),
      let store = _coordinator.persistentStores.first
    else { return nil }
    return _coordinator.managedObjectID(String(name[..<slash]), key, in: store)
  }
}
