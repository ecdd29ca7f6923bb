import CoreData
import Foundation
import Synchronization

/// Which primary key an object's copy has, where a store was copied object by object.
package struct CopiedKeys: Sendable, Codable, Equatable {
  /// By the root entity, whose table has the keys of all its subentities.
  private var _keys: [String: [Int64: Int64]] = [:]

  /// Runs a body that copies a store with `migratePersistentStore(_:to:options:type:)`, and returns the keys of the copy.
  ///
  /// - Parameter coordinator: The one that copies; nil if no other one does meanwhile.
  package static func of(_ coordinator: NSPersistentStoreCoordinator?, _ body: () throws -> Void) rethrows
    -> CopiedKeys
  {
    let keys = Mutex(CopiedKeys())
    let token = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
    ) { notification in
      guard let changed = notification.userInfo?[NSUUIDChangedPersistentStoresKey] as? [Any],
        changed.count > 2, let ids = changed[2] as? [NSManagedObjectID]
      else { return }
      keys.withLock { keys in
        for index in stride(from: 0, to: ids.count - 1, by: 2) { keys._add(ids[index], ids[index + 1]) }
      }
    }
    defer { NotificationCenter.default.removeObserver(token) }
    try body()
    return keys.withLock { $0 }
  }

  package static func read(_ path: String) throws -> CopiedKeys {
    try JSONDecoder().decode(CopiedKeys.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  package func write(to path: String) throws {
    try JSONEncoder().encode(self).write(to: URL(fileURLWithPath: path))
  }

  /// The key of the copy of an object; nil if there was no such object.
  func key(_ root: String, _ key: Int64) -> Int64? { _keys[root]?[key] }

  /// The keys after another copy of the copy.
  func followed(by next: CopiedKeys) -> CopiedKeys {
    var all = CopiedKeys()
    for (root, keys) in _keys { all._keys[root] = keys.compactMapValues { next.key(root, $0) } }
    return all
  }

  private mutating func _add(_ old: NSManagedObjectID, _ new: NSManagedObjectID) {
    var root = old.entity
    while let parent = root.superentity { root = parent }
    guard let old = Self._key(old), let new = Self._key(new) else { return }
    _keys[root.name ?? "", default: [:]][old] = new
  }

  private static func _key(_ id: NSManagedObjectID) -> Int64? {
    let last = id.uriRepresentation().lastPathComponent
    return last.first == "p" ? Int64(last.dropFirst()) : nil
  }
}
