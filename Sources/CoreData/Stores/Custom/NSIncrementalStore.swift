import Foundation

/// A custom store that reads and writes objects as they are needed: a service, another database, a
/// folder of files.
///
/// Subclass it, override `loadMetadata()`, `execute(_:with:)`, `newValuesForObject(with:with:)`,
/// `newValue(forRelationship:forObjectWith:with:)` and `obtainPermanentIDs(for:)`, and register the class
/// with `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`.
///
/// The methods are called one at a time, on the thread that fetches or saves. Fetch requests carry
/// predicate, order, limit and offset as they were given; the engine lays unsaved changes over what the store
/// finds, and sorts and filters nothing that is saved. Differences from Core Data: dictionaries are computed
/// here from the objects that the store finds, so that requests ask for objects, IDs or a count;
/// `propertiesToFetch`, batch size and prefetching are not passed on.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
  // Unchecked: as its superclass; nothing is stored here.

  /// Checks whether the URL can be used, and sets `metadata` with `NSStoreTypeKey` and `NSStoreUUIDKey`. Must
  /// be overridden.
  open override func loadMetadata() throws { mustOverride("loadMetadata()") }

  /// Carries out a request. Must be overridden.
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
  ///   - request: An `NSFetchRequest`, for which the answer is an array of managed objects
  ///     (`context.object(with:)`), of IDs, or of one number, as its `resultType` says; or an
  ///     `NSSaveChangesRequest`, for which it is an empty array and whose sets may be empty: metadata are to
  ///     be written then too. Batch requests do not come here; they are refused.
  ///   - context: Context that asks.
  /// - Throws: What the fetch or save is to throw; 134091 for a request that the store does not know.
  open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any
  {
    mustOverride("execute(_:with:)")
  }

  /// The values of an object. Must be overridden.
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
  /// - Throws: What reading the object is to throw; 133000 if there is none.
  open func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    mustOverride("newValuesForObject(with:with:)")
  }

  /// The ID at a to-one, or `NSNull`; the IDs at a to-many as a set or, for an ordered one, an array. Asked
  /// for relationships that a node leaves out. Must be overridden.
  open func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    mustOverride("newValue(forRelationship:forObjectWith:with:)")
  }

  /// A UUID for the metadata of a store that does not exist yet.
  open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

  /// IDs for objects that are about to be saved, in their order; make them with
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
    mustOverride("obtainPermanentIDs(for:)")
  }

  /// Called with objects that a fetch or a save has made known to a context: once, until they are
  /// unregistered. Core Data calls it for each context.
  open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// Called with objects that a context has forgotten by being reset. Core Data also calls it when a context
  /// goes away.
  open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

  /// The ID of the object that a reference stands for.
  ///
  /// - Parameter data: A string or number, or anything whose description names the object.
  public final func newObjectID(
    for entity: NSEntityDescription, referenceObject data: Any
  ) -> NSManagedObjectID {
    objectID(entity, reference: data)
  }

  /// The reference that an ID of this store was made for; traps for an ID of another store, as Core Data
  /// raises.
  public final func referenceObject(for objectID: NSManagedObjectID) -> Any { reference(of: objectID) }

  private func mustOverride(_ method: String) -> Never {
    programmerError(
      "\(Swift.type(of: self)) must override \(method); NSIncrementalStore knows nothing of its data.")
  }
}

extension NSPersistentStore {
  /// The ID of an object of this store by a reference of its own.
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

  /// The reference that an ID of this store was made for.
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
