import Foundation

/// A save as a store receives it: the objects to insert, update and delete, and those whose version must be
/// checked.
///
/// Contexts create it for stores. `NSManagedObjectContext.execute(_:)` rejects it; save the context instead.
/// Immutable except for `affectedStores`; use it, like its objects, on their context's queue.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
  private let _inserted: Set<NSManagedObject>?
  private let _updated: Set<NSManagedObject>?
  private let _deleted: Set<NSManagedObject>?
  private let _locked: Set<NSManagedObject>?

  /// Creates a request to save objects.
  public init(
    inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
    deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
  ) {
    _inserted = insertedObjects
    _updated = updatedObjects
    _deleted = deletedObjects
    _locked = lockedObjects
    super.init()
  }

  /// Objects to insert.
  open var insertedObjects: Set<NSManagedObject>? { _inserted }
  /// Objects to update.
  open var updatedObjects: Set<NSManagedObject>? { _updated }
  /// Objects to delete.
  open var deletedObjects: Set<NSManagedObject>? { _deleted }
  /// Unchanged objects whose version must not have changed in the store.
  open var lockedObjects: Set<NSManagedObject>? { _locked }

  open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

  open override func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSSaveChangesRequest(
      inserted: _inserted, updated: _updated, deleted: _deleted, locked: _locked)
    copy.affectedStores = affectedStores
    return copy
  }
}
