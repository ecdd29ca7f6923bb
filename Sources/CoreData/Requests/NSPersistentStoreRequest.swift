import Foundation

/// The kind of a request; raw values match Apple's.
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
  /// The stores to query; nil for all stores that hold the entity.
  ///
  /// ```swift
  /// request.affectedStores = coordinator.persistentStores.filter { $0.configurationName == "Archive" }
  /// ```
  @exclusivity(unchecked) open var affectedStores: [NSPersistentStore]?

  /// The kind of request.
  open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  /// Creates an empty request.
  public override init() { super.init() }

  /// Returns an independent copy.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreRequest()
    copy.affectedStores = affectedStores
    return copy
  }

  /// Returns an independent copy.
  open override func copy() -> Any { copy(with: nil) }
}
