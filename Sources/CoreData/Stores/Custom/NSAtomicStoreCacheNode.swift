import Foundation

/// The values of one object in an `NSAtomicStore`.
///
/// A to-one's value is another node, a to-many's a set of nodes. Used by the store's methods only, one thread
/// at a time.
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

  /// Value of a property; nil if it has none.
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
