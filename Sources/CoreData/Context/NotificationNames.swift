import Foundation

extension NSNotification.Name {
  /// Posted by a context that is about to save.
  ///
  /// ```swift
  /// NotificationCenter.default.addObserver(
  ///   forName: .NSManagedObjectContextWillSave, object: context, queue: nil
  /// ) { notification in
  ///   guard let context = notification.object as? NSManagedObjectContext else { return }
  ///   print("\(context.insertedObjects.count) objects to insert")
  /// }
  /// ```
  public static let NSManagedObjectContextWillSave =
    NSNotification.Name("NSManagingContextWillSaveChangesNotification")
  /// Posted by a context that has saved, with the sets of objects concerned.
  ///
  /// ```swift
  /// NotificationCenter.default.addObserver(
  ///   forName: .NSManagedObjectContextDidSave, object: background, queue: nil
  /// ) { notification in
  ///   nonisolated(unsafe) let save = notification  // immutable, but not Sendable
  ///   context.perform { context.mergeChanges(fromContextDidSave: save) }
  /// }
  /// ```
  public static let NSManagedObjectContextDidSave =
    NSNotification.Name("NSManagingContextDidSaveChangesNotification")
  /// Posted by a context when it processes changes, with the sets of objects concerned.
  ///
  /// ```swift
  /// NotificationCenter.default.addObserver(
  ///   forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
  /// ) { notification in
  ///   let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
  ///   print("\(inserted.count) new objects")
  /// }
  /// ```
  public static let NSManagedObjectContextObjectsDidChange =
    NSNotification.Name("NSObjectsChangedInManagingContextNotification")
  /// Posted by a context that has saved, with sets of object IDs.
  ///
  /// ```swift
  /// NotificationCenter.default.addObserver(
  ///   forName: .NSManagedObjectContextDidSaveObjectIDs, object: context, queue: nil
  /// ) { notification in
  ///   let deleted = notification.userInfo?[NSDeletedObjectIDsKey] as? Set<NSManagedObjectID> ?? []
  ///   print("\(deleted.count) objects deleted")
  /// }
  /// ```
  public static let NSManagedObjectContextDidSaveObjectIDs =
    NSNotification.Name("NSManagedObjectContextDidSaveObjectIDsNotification")
  /// Posted by a context that has merged changes, with sets of object IDs.
  public static let NSManagedObjectContextDidMergeChangesObjectIDs =
    NSNotification.Name("NSManagedObjectContextDidMergeChangesObjectIDsNotification")
  /// Posted by a coordinator whose stores are about to change.
  public static let NSPersistentStoreCoordinatorStoresWillChange =
    NSNotification.Name("NSPersistentStoreCoordinatorStoresWillChangeNotification")
  /// Posted by a coordinator that has added or removed a store.
  ///
  /// ```swift
  /// NotificationCenter.default.addObserver(
  ///   forName: .NSPersistentStoreCoordinatorStoresDidChange, object: coordinator, queue: nil
  /// ) { notification in
  ///   let added = notification.userInfo?[NSAddedPersistentStoresKey] as? [NSPersistentStore] ?? []
  ///   print("Added: \(added.map { $0.url?.path ?? "memory" })")
  /// }
  /// ```
  public static let NSPersistentStoreCoordinatorStoresDidChange =
    NSNotification.Name("NSPersistentStoreCoordinatorStoresDidChangeNotification")
  /// Posted with a store as object before a coordinator removes it.
  public static let NSPersistentStoreCoordinatorWillRemoveStore =
    NSNotification.Name("NSPersistentStoreCoordinatorWillRemoveStoreNotification")
}

/// Key for the set of inserted objects.
public let NSInsertedObjectsKey = "inserted"
/// Key for the set of updated objects.
public let NSUpdatedObjectsKey = "updated"
/// Key for the set of deleted objects.
public let NSDeletedObjectsKey = "deleted"
/// Key for the set of objects that were refreshed with newer values.
public let NSRefreshedObjectsKey = "refreshed"
/// Key for the set of objects whose values were discarded.
public let NSInvalidatedObjectsKey = "invalidated"
/// Key for the array of IDs of all objects, when a context was reset.
public let NSInvalidatedAllObjectsKey = "invalidatedAll"
/// Key for the set of inserted objects' IDs.
public let NSInsertedObjectIDsKey = "inserted_objectIDs"
/// Key for the set of updated objects' IDs.
public let NSUpdatedObjectIDsKey = "updated_objectIDs"
/// Key for the set of deleted objects' IDs.
public let NSDeletedObjectIDsKey = "deleted_objectIDs"
/// Key for the set of refreshed objects' IDs.
public let NSRefreshedObjectIDsKey = "refreshed_objectIDs"
/// Key for the set of invalidated objects' IDs.
public let NSInvalidatedObjectIDsKey = "invalidated_objectIDs"
/// Key for the query generation that a save produced.
public let NSManagedObjectContextQueryGenerationKey = "newQueryGeneration"
/// Key for the array of stores that were added.
public let NSAddedPersistentStoresKey = "NSAddedPersistentStoresKey"
/// Key for the array of stores that were removed.
public let NSRemovedPersistentStoresKey = "NSRemovedPersistentStoresKey"
/// Key for an array of old store, new store and pairs of IDs when a store's UUID changed.
public let NSUUIDChangedPersistentStoresKey = "NSUUIDChangedPersistentStoresKey"

extension NSManagedObjectContext {
  /// Name of `NSManagedObjectContextWillSave`.
  public static let willSaveObjectsNotification = NSNotification.Name.NSManagedObjectContextWillSave
  /// Name of `NSManagedObjectContextDidSave`.
  ///
  /// ```swift
  /// let saves = NotificationCenter.default.addObserver(
  ///   forName: NSManagedObjectContext.didSaveObjectsNotification, object: background, queue: nil
  /// ) { notification in
  ///   let inserted = notification.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
  ///   print("\(inserted.count) objects inserted")
  /// }
  /// ```
  public static let didSaveObjectsNotification = NSNotification.Name.NSManagedObjectContextDidSave
  /// Name of `NSManagedObjectContextObjectsDidChange`.
  public static let didChangeObjectsNotification =
    NSNotification.Name.NSManagedObjectContextObjectsDidChange
  /// Name of `NSManagedObjectContextDidSaveObjectIDs`.
  public static let didSaveObjectIDsNotification =
    NSNotification.Name.NSManagedObjectContextDidSaveObjectIDs
  /// Name of `NSManagedObjectContextDidMergeChangesObjectIDs`.
  public static let didMergeChangesObjectIDsNotification =
    NSNotification.Name.NSManagedObjectContextDidMergeChangesObjectIDs

  /// Keys of the notifications' user info; raw values are the strings of the global constants.
  ///
  /// ```swift
  /// let key = NSManagedObjectContext.NotificationKey.updatedObjects.rawValue
  /// let updated = notification.userInfo?[key] as? Set<NSManagedObject> ?? []
  /// ```
  public enum NotificationKey: String, Hashable, Sendable {
    /// Query generation token of the state that was saved.
    case queryGeneration = "newQueryGeneration"
    /// IDs of all objects after a reset.
    case invalidatedAllObjects = "invalidatedAll"
    /// Objects inserted.
    case insertedObjects = "inserted"
    /// Objects changed.
    case updatedObjects = "updated"
    /// Objects deleted.
    case deletedObjects = "deleted"
    /// Objects refreshed.
    case refreshedObjects = "refreshed"
    /// Objects that no longer exist.
    case invalidatedObjects = "invalidated"
    /// IDs of objects inserted.
    case insertedObjectIDs = "inserted_objectIDs"
    /// IDs of objects changed.
    case updatedObjectIDs = "updated_objectIDs"
    /// IDs of objects deleted.
    case deletedObjectIDs = "deleted_objectIDs"
    /// IDs of objects refreshed.
    case refreshedObjectIDs = "refreshed_objectIDs"
    /// IDs of objects that no longer exist.
    case invalidatedObjectIDs = "invalidated_objectIDs"
  }
}
