import Foundation

/// IDs from any user info dictionary that merging accepts.
struct MergedIDs {
  var inserted: [NSManagedObjectID] = []
  var updated: [NSManagedObjectID] = []
  var deleted: [NSManagedObjectID] = []

  var changed: [NSManagedObjectID] { updated + deleted }

  init(_ userInfo: [AnyHashable: Any], resolving coordinator: NSPersistentStoreCoordinator? = nil) {
    func ids(_ keys: String...) -> [NSManagedObjectID] {
      keys.flatMap { key -> [NSManagedObjectID] in
        let members: [Any] =
          switch userInfo[key] {
          case let set as Set<NSManagedObject>: Array(set)
          case let set as Set<NSManagedObjectID>: Array(set)
          case let set as NSSet: set.allObjects
          case let array as [Any]: array
          default: []
          }
        return members.compactMap { member in
          switch member {
          case let id as NSManagedObjectID: id
          case let object as NSManagedObject: object.objectID
          case let url as URL: coordinator?.managedObjectID(forURIRepresentation: url)
          default: nil
          }
        }
      }
    }
    inserted = ids(NSInsertedObjectsKey, NSInsertedObjectIDsKey)
    updated = ids(
      NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, NSRefreshedObjectsKey, NSRefreshedObjectIDsKey)
    deleted = ids(NSDeletedObjectsKey, NSDeletedObjectIDsKey)
  }
}
