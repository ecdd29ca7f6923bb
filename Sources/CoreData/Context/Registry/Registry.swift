import CoreDataModelSchema
import Foundation

/// A context's objects by identity: looks them up, makes them and lets go of them.
///
/// Runs on the context's queue. The objects are in `ObjectTable`.
struct Registry {
  let context: NSManagedObjectContext

  @inline(__always) init(_ context: NSManagedObjectContext) { self.context = context }

  // MARK: Look-ups

  func registered(_ objectID: NSManagedObjectID) -> NSManagedObject? {
    context.checkQueue()
    let id = localized(objectID)
    if let object = heldObject(for: id) { return object }
    // The object comes from a child's save: it is unsaved in this context and therefore registered, but
    // created lazily.
    guard let entry = context.overlay.layers.entry(for: IdentityKey(id)), entry.kind != .insertedThenDeleted
    else {
      return nil
    }
    return context.links.materialize(entry)
  }

  func objectOrFault(_ objectID: NSManagedObjectID) -> NSManagedObject {
    context.checkQueue()
    let id = localized(objectID)
    return heldObject(for: id) ?? makeFault(id)
  }

  func all() -> Set<NSManagedObject> {
    context.checkQueue()
    sweep()
    context.links.materializeAdopted()
    var objects = Set<NSManagedObject>(minimumCapacity: context.table.count)
    context.table.forEach { objects.insert($0) }
    return objects
  }

  // MARK: Identity

  /// Returns the ID of the same object in this context's coordinator. Each coordinator has separate entity
  /// descriptions, even for the same file.
  func localized(_ id: NSManagedObjectID) -> NSManagedObjectID {
    guard let coordinator = context.rootCoordinator else { return id }
    let version = coordinator.storesVersion.load(ordering: .acquiring)
    if context.memo.localSpace.storesVersion == version, context.memo.localSpace.space === id.space {
      return id
    }
    guard let key = id.key, let local = coordinator.localized(key) else { return id }
    if local.space !== id.space { return NSManagedObjectID(local) }
    context.memo.localSpace = (local.space, version)
    return id
  }

  func localized(_ key: ObjectKey) -> ObjectKey {
    context.persistentStoreCoordinator?.localized(key) ?? key
  }

  /// Returns the registered object that a to-one value refers to, if any. A value saved together with its
  /// target still has the target's temporary ID.
  @inline(__always)
  func registered(in value: Value) -> NSManagedObject? {
    switch value {
    case .reference(let key): context.table.object(for: key)
    case .pending(let id): context.table.object(for: id)
    default: nil
    }
  }

  func object(for key: ObjectKey) -> NSManagedObject {
    if let object = heldObject(for: IdentityKey(key)) { return object }
    return makeFault(localized(key))
  }

  /// - Parameter isInBatches: Whether the caller records which faults load together.
  func object(for key: ObjectKey, inBatches isInBatches: Bool) -> NSManagedObject {
    let hashed = IdentityKey(key)
    if let object = heldObject(for: hashed) { return object }
    if let entry = context.overlay.layers.entry(for: hashed) { return context.links.materialize(entry) }
    let object = make(key, hashed, row: nil)
    if !isInBatches { context.faultBatch.add(key) }
    return object
  }

  /// Returns the ID already in use for a key, which avoids duplicate ID objects.
  func id(for key: ObjectKey) -> NSManagedObjectID? { context.table.object(for: key)?._objectID }
}

extension NSManagedObjectContext {
  /// The context's objects by identity.
  @inline(__always)
  final var registry: Registry { Registry(self) }
}
