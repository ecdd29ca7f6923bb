import Foundation

/// A store that receives saves as objects rather than values, as custom classes expect.
///
/// Called on the queue of the saving context.
protocol ManagedObjectStoring: StoreEngine {
  /// Assigns permanent IDs to objects without one.
  func obtainPermanentIDs(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws

  /// Saves, even without changes, since a save also writes metadata.
  ///
  /// - Parameter others: Saves into the other custom stores of a joint save. Called once, after this save is
  ///   known to have no conflicts and before it is executed.
  /// - Throws: `StoreConflictError`, or any error of the custom class.
  func save(
    _ changes: ChangeSet, in context: NSManagedObjectContext, along others: () throws -> Void
  ) throws -> SaveOutcome

  /// Called when a context has unregistered these objects.
  func didUnregister(_ ids: [NSManagedObjectID])
}

extension ManagedObjectStoring {
  func didUnregister(_ ids: [NSManagedObjectID]) {}

  // Only the methods above obtain keys and save changes.

  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]] { throw _needsObjects }

  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome {
    throw _needsObjects
  }

  private var _needsObjects: CocoaError {
    CocoaError.coreData(
      NSPersistentStoreUnsupportedRequestTypeError,
      "A store of a custom class takes the objects of a context only.")
  }
}

extension ChangeSet {
  /// Converts the change set to a save request for the context's objects.
  func request(in context: NSManagedObjectContext) -> NSSaveChangesRequest {
    func objects(_ ids: [NSManagedObjectID]) -> Set<NSManagedObject> {
      Set(ids.map { context.registry.objectOrFault($0) })
    }
    return NSSaveChangesRequest(
      inserted: objects(inserted.map(\.id)), updated: objects(updated.map(\.id)),
      deleted: objects(deleted.map(\.id)), locked: objects(locked.map(\.id)))
  }
}

extension NSManagedObjectContext {
  /// Registers an object under its permanent ID once its temporary one has been linked.
  final func adoptPermanentID(of id: NSManagedObjectID) {
    guard let permanent = id.permanent, let object = table.object(for: permanent) else { return }
    object.adoptPermanentID()
  }
}
