import CoreData
import Foundation

/// An incremental store over dictionaries in memory that records its calls, with separate contents for each
/// URL.
final class ShelfStore: NSIncrementalStore, @unchecked Sendable {
  // Unchecked: used by one test at a time, and the framework calls one method at a time.
  static let type = "Shelf"

  /// The contents of the store at a URL, kept while the process runs.
  final class World: @unchecked Sendable {
    // Unchecked: like the store.
    struct Entry {
      var entity: String
      var values: [String: Any]
      /// References by relationship; one element for a to-one.
      var links: [String: [String]]
      var version: UInt64
    }
    let identifier = UUID().uuidString
    var entries: [String: Entry] = [:]
    var calls: [String] = []
    var metadata: [String: Any] = [:]
    var next = 1
    /// Refuses the next save.
    var isFull = false
    /// Thrown by the next fetch.
    var trouble: (any Error)?
    /// Thrown by reads of values.
    var outage: (any Error)?
    /// Whether nodes include to-manys.
    var tellsMembers = false
  }

  nonisolated(unsafe) private static var _worlds: [URL: World] = [:]
  private static let _lock = NSLock()

  static func world(at url: URL) -> World {
    _lock.withLock {
      if let world = _worlds[url] { return world }
      let world = World()
      _worlds[url] = world
      return world
    }
  }

  private var _world: World { Self.world(at: url!) }
  override var type: String { Self.type }

  override func loadMetadata() throws {
    if url!.lastPathComponent == "unusable" { throw CocoaError(.fileReadNoPermission) }
    _world.calls.append("loadMetadata")
    var metadata = _world.metadata
    metadata[NSStoreTypeKey] = Self.type
    metadata[NSStoreUUIDKey] = _world.identifier
    self.metadata = metadata
  }

  override func didAdd(to coordinator: NSPersistentStoreCoordinator) { _world.calls.append("didAdd") }
  override func willRemove(from coordinator: NSPersistentStoreCoordinator?) {
    _world.calls.append("willRemove")
  }

  override func execute(
    _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ) throws -> Any {
    switch request {
    case let request as NSFetchRequest<any NSFetchRequestResult>: return try _fetch(request, context!)
    case let request as NSSaveChangesRequest: return try _save(request)
    default: throw CocoaError(.persistentStoreUnsupportedRequestType)
    }
  }

  private func _fetch(
    _ request: NSFetchRequest<any NSFetchRequestResult>, _ context: NSManagedObjectContext
  ) throws -> Any {
    _world.calls.append("fetch \(request.predicate?.description ?? "all")")
    if let trouble = _world.trouble { throw trouble }
    let entity = request.entity!
    var found: [NSManagedObject] = _world.entries.sorted { $0.key < $1.key }.compactMap { key, entry in
      guard let own = entity.managedObjectModel.entitiesByName[entry.entity],
        own.isKindOf(entity: entity), request.includesSubentities || own === entity
      else { return nil }
      return context.object(with: newObjectID(for: own, referenceObject: key))
    }
    if let predicate = request.predicate { found = found.filter { predicate.evaluate(with: $0) } }
    if let descriptors = request.sortDescriptors {
      found.sort { left, right in
        for descriptor in descriptors {
          let order = descriptor.compare(left, to: right)
          if order != .orderedSame { return order == .orderedAscending }
        }
        return false
      }
    }
    found = Array(found.dropFirst(request.fetchOffset))
    if request.fetchLimit > 0 { found = Array(found.prefix(request.fetchLimit)) }
    switch request.resultType {
    case .managedObjectIDResultType: return found.map(\.objectID)
    case .countResultType: return [NSNumber(value: found.count)]
    default: return found
    }
  }

  private func _save(_ request: NSSaveChangesRequest) throws -> Any {
    func count(_ set: Set<NSManagedObject>?) -> Int { set?.count ?? 0 }
    _world.calls.append(
      "save +\(count(request.insertedObjects)) ~\(count(request.updatedObjects)) -\(count(request.deletedObjects))"
    )
    if _world.isFull { throw CocoaError(.fileWriteOutOfSpace) }
    for object in (request.insertedObjects ?? []).union(request.updatedObjects ?? []) {
      let key = referenceObject(for: object.objectID) as! String
      var entry = World.Entry(
        entity: object.entity.name!, values: [:], links: [:],
        version: (_world.entries[key]?.version ?? 0) + 1)
      for name in object.entity.attributesByName.keys { entry.values[name] = object.value(forKey: name) }
      for (name, relationship) in object.entity.relationshipsByName {
        let others: [NSManagedObject]
        if relationship.isOrdered {
          others = (object.value(forKey: name) as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
        } else if relationship.isToMany {
          others = Array(object.value(forKey: name) as? Set<NSManagedObject> ?? [])
        } else {
          others = [object.value(forKey: name) as? NSManagedObject].compactMap { $0 }
        }
        entry.links[name] = others.map { referenceObject(for: $0.objectID) as! String }
      }
      _world.entries[key] = entry
    }
    for object in request.deletedObjects ?? [] {
      _world.entries[referenceObject(for: object.objectID) as! String] = nil
    }
    _world.metadata = metadata
    return []
  }

  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    let key = referenceObject(for: objectID) as! String
    _world.calls.append("values \(key)")
    if let outage = _world.outage { throw outage }
    guard let entry = _world.entries[key] else { throw CocoaError(.managedObjectReferentialIntegrity) }
    var values = entry.values
    if _world.tellsMembers {
      for (name, relationship) in objectID.entity.relationshipsByName {
        let ids = _ids(entry.links[name] ?? [], objectID.entity)
        values[name] = relationship.isToMany ? ids as Any : ids.first ?? NSNull()
      }
    }
    return NSIncrementalStoreNode(objectID: objectID, withValues: values, version: entry.version)
  }

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let key = referenceObject(for: objectID) as! String
    _world.calls.append("\(relationship.name) of \(key)")
    if let outage = _world.outage { throw outage }
    let ids = _ids(_world.entries[key]?.links[relationship.name] ?? [], objectID.entity)
    return relationship.isToMany ? ids as Any : ids.first ?? NSNull()
  }

  private func _ids(_ keys: [String], _ entity: NSEntityDescription) -> [NSManagedObjectID] {
    keys.compactMap { key in
      guard let entry = _world.entries[key] else { return nil }
      return newObjectID(
        for: entity.managedObjectModel.entitiesByName[entry.entity]!, referenceObject: key)
    }
  }

  override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    _world.calls.append("obtain \(array.count)")
    return array.map { object in
      defer { _world.next += 1 }
      return newObjectID(
        for: object.entity, referenceObject: "\(object.entity.name!.lowercased()) \(_world.next)")
    }
  }

  override func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {
    _world.calls.append("register \(objectIDs.count)")
  }

  override func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {
    _world.calls.append("unregister \(objectIDs.count)")
  }
}
