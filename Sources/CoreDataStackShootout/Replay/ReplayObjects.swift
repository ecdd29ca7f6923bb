import CoreData
import CoreDataModelSchema
import Foundation
import Synchronization

/// The IDs of the objects that a recording names: `Order/p12` of the store, `Order/t5` of one that was inserted while it ran.
final class ReplayObjects: Sendable {
  private let _coordinator: NSPersistentStoreCoordinator
  private let _layout: ModelLayout
  private let _keys: CopiedKeys?
  private let _made = Atomic(500_000_000)
  private let _inserted = Mutex<[String: NSManagedObjectID]>([:])

  /// - Parameter keys: The keys of the store's objects, if they are not the recorded ones.
  init(_ coordinator: NSPersistentStoreCoordinator, _ layout: ModelLayout, _ keys: CopiedKeys?) {
    (_coordinator, _layout, _keys) = (coordinator, layout, keys)
  }

  /// A number that is none of the store's, probably, and that nothing else has got.
  func nextNumber() -> Int { _made.wrappingAdd(1, ordering: .relaxed).newValue }

  func note(_ id: NSManagedObjectID, as name: String) { _inserted.withLock { $0[name] = id } }

  /// The ID of an object; nil if nothing has made it.
  func id(_ name: String) -> NSManagedObjectID? {
    if let known = _inserted.withLock({ $0[name] }) { return known }
    guard let slash = name.lastIndex(of: "/"), name[name.index(after: slash)...].first == "p",
      let recorded = Int64(name[name.index(slash, offsetBy: 2)...]),
      let store = _coordinator.persistentStores.first
    else { return nil }
    let entity = String(name[..<slash])
    guard let key = _keys == nil ? recorded : _key(entity, recorded) else { return nil }
    return _coordinator.managedObjectID(entity, key, in: store)
  }

  private func _key(_ entity: String, _ recorded: Int64) -> Int64? {
    guard let layout = _layout.layoutsByName[entity] else { return nil }
    return _keys?.key(_layout.layout(numbered: layout.rootNumber).entityName, Int(recorded)).map(Int64.init)
  }
}
