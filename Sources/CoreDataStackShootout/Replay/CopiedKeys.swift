import CoreData
import CoreDataToolKit
import Foundation
import Synchronization

/// Which primary key an object's copy has, where a store was copied object by object.
package struct CopiedKeys: Sendable, Equatable {
  /// By the root entity, whose table has the keys of all its subentities.
  private var _keys: [String: [Int: Int]] = [:]

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

  /// Reads a file that `write(to:)` has written.
  static func read(_ path: String) throws(ToolFailure) -> CopiedKeys {
    let input = try InputFile(path: path)
    var bytes: [UInt8] = []
    while let chunk = try input.nextBytes() { bytes += chunk }
    do {
      return CopiedKeys(_keys: try JSONDecoder().decode([String: [Int: Int]].self, from: Data(bytes)))
    } catch {
      throw ToolFailure(
        .badInput, "'\(path)' has no keys of a copy: 'coredata postgres copy --keys FILE' writes them.")
    }
  }

  /// Writes the keys as JSON: by root entity, an object from old keys to new ones.
  package func write(to path: String) throws {
    try JSONEncoder().encode(_keys).write(to: URL(fileURLWithPath: path))
  }

  /// The key of the copy of an object; nil if there was no such object.
  func key(_ root: String, _ key: Int) -> Int? { _keys[root]?[key] }

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

  private static func _key(_ id: NSManagedObjectID) -> Int? {
    let last = id.uriRepresentation().lastPathComponent
    return last.first == "p" ? Int(last.dropFirst()) : nil
  }
}
