import Foundation

/// A store that is given the objects of a save and not only their values: what custom classes are
/// written for.
///
/// Called on the queue of the context that saves.
protocol ManagedObjectStoring: StoreEngine {
  /// Gives objects that have none permanent IDs.
  func obtainPermanentIDs(for ids: [NSManagedObjectID], in context: NSManagedObjectContext) throws

  /// Saves, also where nothing has changed: that is how metadata get written.
  ///
  /// - Parameter others: Saves into other custom stores that belong with this one; called once, when
  ///   this one is known to be no conflict, and before it is made.
  /// - Throws: `StoreConflictError`, or what the custom class throws.
  func save(
    _ changes: ChangeSet, in context: NSManagedObjectContext, along others: () throws -> Void
  ) throws -> SaveOutcome

  /// Learns that a context does not show these objects any more.
  func didUnregister(_ ids: [NSManagedObjectID])
}

extension ManagedObjectStoring {
  func didUnregister(_ ids: [NSManagedObjectID]) {}

  // Keys are obtained and changes saved by the calls above, and by no others.

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
  /// What the set says, as a request about the context's objects.
  func request(in context: NSManagedObjectContext) -> NSSaveChangesRequest {
    func objects(_ ids: [NSManagedObjectID]) -> Set<NSManagedObject> {
      Set(ids.map { context.objectOrFault($0) })
    }
    return NSSaveChangesRequest(
      inserted: objects(inserted.map(\.id)), updated: objects(updated.map(\.id)),
      deleted: objects(deleted.map(\.id)), locked: objects(locked.map(\.id)))
  }
}

extension NSManagedObjectContext {
  /// Files an object whose temporary ID has learned its permanent one under that.
  final func adoptPermanentID(of id: NSManagedObjectID) {
    guard let permanent = id.permanent, let object = table.object(for: permanent) else { return }
    object._id = permanent
  }
}
