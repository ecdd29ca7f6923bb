import Foundation

/// What a request does; raw values are Apple's.
public enum NSPersistentStoreRequestType: UInt, Sendable {
  /// `NSFetchRequest`
  case fetchRequestType = 1
  /// `NSSaveChangesRequest`
  case saveRequestType = 2
  /// `NSBatchInsertRequest`
  case batchInsertRequestType = 5
  /// `NSBatchUpdateRequest`
  case batchUpdateRequestType = 6
  /// `NSBatchDeleteRequest`
  case batchDeleteRequestType = 7
}

/// A request to a persistent store. Not safe to use from several threads at once.
open class NSPersistentStoreRequest: NSObject, NSCopying {
  /// Stores to ask; nil for all stores that hold the entity.
  ///
  /// ```swift
  /// request.affectedStores = coordinator.persistentStores.filter { $0.configurationName == "Archive" }
  /// ```
  @exclusivity(unchecked) open var affectedStores: [NSPersistentStore]?

  /// Kind of request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// Creates an empty request.
  public override init() { super.init() }

  /// Returns a copy that may be changed independently.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreRequest()
    copy.affectedStores = affectedStores
    return copy
  }

  /// Returns an independent copy.
  open override func copy() -> Any { copy(with: nil) }
}
