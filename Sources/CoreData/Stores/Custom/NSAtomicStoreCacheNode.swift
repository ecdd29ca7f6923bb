import Foundation

/// The values of one object in an `NSAtomicStore`.
///
/// The value of a to-one is another node, that of a to-many a set of nodes. For use by the store's methods
/// only, on one thread at a time.
///
/// ```swift
/// let node = NSAtomicStoreCacheNode(objectID: book.objectID)
/// node.setValue("The Waves", forKey: "title")
/// ```
open class NSAtomicStoreCacheNode: NSObject {
  private let _objectID: NSManagedObjectID

  /// Creates a node without values.
  public init(objectID moid: NSManagedObjectID) {
    _objectID = moid
    super.init()
  }

  /// ID of the object.
  open var objectID: NSManagedObjectID { _objectID }

  /// Values by property name; nil until one is set.
  open var propertyCache: NSMutableDictionary?

  /// Returns the value of a property; nil without one.
  open func value(forKey key: String) -> Any? {
    let value = propertyCache?[key]
    return value is NSNull ? nil : value
  }

  /// Sets the value of a property; nil removes it.
  open func setValue(_ value: Any?, forKey key: String) {
    guard let value else {
      propertyCache?.removeObject(forKey: key)
      return
    }
    if propertyCache == nil { propertyCache = NSMutableDictionary() }
    propertyCache![key] = value
  }
}
