import Foundation

/// A custom store that reads and writes objects on demand: a service, another database, a directory of files.
///
/// Subclass it, override `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)` and `obtainPermanentIDs(for:)`, and register the class
/// with `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`.
///
/// The methods are called one at a time, on the thread that fetches or saves. Fetch requests keep predicate,
/// order, limit and offset; the engine merges unsaved changes into the results, but does not sort or filter
/// saved objects. Differences from Core Data: dictionaries are computed by the engine from the objects that
/// the store returns, so requests are for objects, IDs or a count only; `propertiesToFetch`, batch size and
/// prefetching are not passed on.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
  // Unchecked: as its superclass; this class has no state.

  /// Checks the URL and sets `metadata` with `NSStoreTypeKey` and `NSStoreUUIDKey`. Must be overridden.
  open override func loadMetadata() throws { _mustOverride("loadMetadata()") }

  /// Executes a request. Must be overridden.
  ///
  /// ```swift
  /// final class WebStore: NSIncrementalStore, @unchecked Sendable {
  ///   override func execute(
  ///     _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
  ///   ) throws -> Any {
  ///     guard let fetch = request as? AnyFetchRequest, let entity = fetch.entity, let context else {
  ///       throw CocoaError(.persistentStoreUnsupportedRequestType)
  ///     }
  ///     let names = ["novel", "poetry"]  // what the service answers
  ///     return names.map { context.object(with: newObjectID(for: entity, referenceObject: $0)) }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - request: An `NSFetchRequest`, which returns an array of managed objects (`context.object(with:)`),
  ///     of IDs, or of one number, depending on its `resultType`; or an `NSSaveChangesRequest`, which returns
  ///     an empty array. Its sets may be empty, but metadata must still be written. Batch requests are
  ///     rejected before they reach the store.
  ///   - context: The requesting context.
  /// - Throws: The error with which the fetch or save fails; 134091 for an unsupported request.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
  {
    _mustOverride("execute(_:with:)")
  }

  /// Returns the values of an object. Must be overridden.
  ///
  /// ```swift
  /// final class WebStore: NSIncrementalStore, @unchecked Sendable {
  ///   override func newValuesForObject(
  ///     with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ///   ) throws -> NSIncrementalStoreNode {
  ///     NSIncrementalStoreNode(
  ///       objectID: objectID, withValues: ["name": referenceObject(for: objectID)], version: 1)
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: The error with which reading the object fails; 133000 if it does not exist.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    _mustOverride("newValuesForObject(with:with:)")
  }

  /// Returns the ID at a to-one, or `NSNull`; the IDs at a to-many as a set or, if ordered, an array. Called
  /// for relationships that a node omits. Must be overridden.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    _mustOverride("newValue(forRelationship:forObjectWith:with:)")
  }

  /// Returns a UUID for the metadata of a store that does not exist yet.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// Returns IDs for objects about to be saved, in their order; create them with
  /// `newObjectID(for:referenceObject:)`. Must be overridden.
  ///
  /// ```swift
  /// final class WebStore: NSIncrementalStore, @unchecked Sendable {
  ///   override func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
  ///     array.map { newObjectID(for: $0.entity, referenceObject: UUID().uuidString) }
  ///   }
  /// }
  /// ```
  open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
    _mustOverride("obtainPermanentIDs(for:)")
  }

  /// Called when a fetch or save has registered objects in a context: once, until they are unregistered. Core
  /// Data calls it for each context.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called when a reset of a context has unregistered objects. Core Data also calls it when a context is
  /// deallocated.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Returns the ID of the object with a given reference.
  ///
  /// - Parameter data: A string or number, or any value whose description identifies the object.
  public final func newObjectID(
    for entity: NSEntityDescription, referenceObject data: Any
  ) -> NSManagedObjectID {
    objectID(entity, reference: data)
  }

  /// Returns the reference of an ID of this store. Traps for an ID of another store, where Core Data raises.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID) }

  private func _mustOverride(_ method: String) -> Never {
    programmerError(
      "\(Swift.type(of: self)) must override \(method); NSIncrementalStore knows nothing of its data.")
  }
}

extension NSPersistentStore {
  /// Returns the ID of an object of this store by the store's own reference.
  final func objectID(_ entity: NSEntityDescription, reference: Any) -> NSManagedObjectID {
    guard let space = engine?.spaces.first(where: { $0.layout.entityName == entity.name }),
      let references = space.references
    else {
      programmerError(
        "the store at \(url?.path ?? "?") makes no object ID for '\(entity.name ?? "?")': it is not added yet, or its model "
          + "has no such entity.")
    }
    let number = references.key(for: reference, root: space.layout.rootNumber)
    return NSManagedObjectID(ObjectKey(space: space, reference: number))
  }

  /// Returns the reference of an ID of this store.
  final func reference(of objectID: NSManagedObjectID) -> Any {
    guard let id = objectID.key, id.space.store === key,
      let reference = id.space.references?.reference(of: id.reference)
    else {
      programmerError(
        "NSInvalidArgumentException: \(objectID.uriRepresentation()) is not an object of the store at "
          + "\(url?.path ?? "?").")
    }
    return reference
  }
}
