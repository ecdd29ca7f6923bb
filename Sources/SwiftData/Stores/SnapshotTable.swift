import CoreData
import Synchronization

/// The values of a custom store's models that have been requested, in the engine's types.
final class SnapshotTable: @unchecked Sendable {
  // Unchecked: values are immutable; the lock guards the table.
  private let _rows = Mutex<[PersistentIdentifier: UncheckedRow]>([:])
  /// Keys that the store has given to objects which are being saved.
  private let _keys = Mutex<[ObjectIdentifier: String]>([:])
  /// Requests a model that isn't in the table from the store.
  var load: (PersistentIdentifier) throws -> Void = { _ in }

  private struct UncheckedRow: @unchecked Sendable {
    // Unchecked: as the table's.
    let values: [String: Any]
    let version: UInt64
  }

  func put(_ values: [String: Any], for identifier: PersistentIdentifier) {
    let row = UncheckedRow(values: values, version: 1)
    _rows.withLock { rows in
      let version = (rows[identifier]?.version ?? 0) + 1
      rows[identifier] = UncheckedRow(values: row.values, version: version)
    }
  }

  func remove(_ identifier: PersistentIdentifier) { _rows.withLock { $0[identifier] = nil } }
  func removeAll() { _rows.withLock { $0 = [:] } }

  func row(_ identifier: PersistentIdentifier) -> (values: [String: Any], version: UInt64)? {
    let row = _rows.withLock { $0[identifier] }
    return row.map { ($0.values, $0.version) }
  }

  func setKey(_ key: String, for object: NSManagedObject) {
    let identity = ObjectIdentifier(object)
    _keys.withLock { $0[identity] = key }
  }

  func removeKey(for object: NSManagedObject) -> String? {
    let identity = ObjectIdentifier(object)
    return _keys.withLock { $0.removeValue(forKey: identity) }
  }
}

/// The engine's store over a table of snapshots.
final class SnapshotStore: NSIncrementalStore, @unchecked Sendable {
  // Unchecked: as its superclass; the table has a lock.

  static let storeType = "SwiftData.DataStore"
  static let tableKey = "SwiftData.SnapshotTable"
  static let identifierKey = "SwiftData.StoreIdentifier"
  static let registration: Void = {
    NSPersistentStoreCoordinator.registerStoreClass(SnapshotStore.self, forStoreType: storeType)
  }()

  /// Adds the engine's side of a custom store to a coordinator.
  static func add(_ store: CustomStore, to coordinator: NSPersistentStoreCoordinator) throws {
    _ = registration
    let place = URL(string: "swiftdata-store:\(UUID().uuidString)")
    try coordinator.addPersistentStore(
      ofType: storeType, configurationName: store.name, at: place,
      options: [tableKey: store.bridge, identifierKey: store.identifier])
  }

  private var _table: SnapshotTable { options![Self.tableKey] as! SnapshotTable }

  override func loadMetadata() throws {
    metadata = [
      NSStoreTypeKey: Self.storeType,
      NSStoreUUIDKey: options?[Self.identifierKey] as? String ?? UUID().uuidString,
    ]
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    // Contexts query the custom store directly, and have saved to it before the engine gets here.
    []
  }

  private func _row(_ objectID: NSManagedObjectID) throws -> (values: [String: Any], version: UInt64) {
    guard let identifier = PersistentIdentifier(objectID) else { return ([:], 1) }
    if let row = _table.row(identifier) { return row }
    try _table.load(identifier)
    if let row = _table.row(identifier) { return row }
    throw CocoaError(CocoaError.Code(rawValue: 133000))
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let row = try _row(objectID)
    return NSIncrementalStoreNode(
      objectID: objectID,
      withValues: row.values.filter { objectID.entity.attributesByName[$0.key] != nil }, version: row.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let identifiers = try _row(objectID).values[relationship.name] as? [PersistentIdentifier] ?? []
    let ids = identifiers.compactMap { identifier in
      persistentStoreCoordinator?.objectID(
        inStore: identifier.storeIdentifier ?? "", entity: identifier.entityName, text: identifier.id.bareKey)
    }
    return relationship.isToMany ? ids as Any : ids.first ?? NSNull()
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    try array.map { object in
      guard let key = _table.removeKey(for: object) else {
        throw SwiftDataError(
          .modelValidationFailure,
          "The custom store has given no permanent identifier to a new '\(object.entity.name ?? "?")'; put one into "
            + "remappedIdentifiers.")
      }
      return newObjectID(for: object.entity, referenceObject: key)
    }
  }
}
