import Foundation

/// A coordinator of the engine's own, for a file that is not yet where the program wants it. It posts no
/// notifications of its stores.
final class UnannouncedCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {}

extension NSPersistentStoreCoordinator {
  /// Posts that the coordinator's stores have changed.
  final func announceStores(_ userInfo: [AnyHashable: Any]) {
    guard !(self is UnannouncedCoordinator) else { return }
    NotificationCenter.default.post(
      name: .NSPersistentStoreCoordinatorStoresDidChange, object: self, userInfo: userInfo)
  }

  /// Posts that a store leaves the coordinator.
  final func announceRemoval(of store: NSPersistentStore) {
    guard !(self is UnannouncedCoordinator) else { return }
    NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
  }
}
