import Foundation
import Synchronization

/// The values of one object in a custom store, with their version.
///
/// The value of a to-one is an `NSManagedObjectID`, or `NSNull` for none; that of a to-many a set or array of
/// IDs, empty without members. Omitted relationships are requested on demand; an omitted attribute is nil.
///
/// ```swift
/// let node = NSIncrementalStoreNode(
///   objectID: book.objectID, withValues: ["title": "The Waves", "author": author.objectID], version: 1)
/// node.update(withValues: ["title": "Orlando", "author": NSNull()], version: 2)
/// ```
open class NSIncrementalStoreNode: NSObject, @unchecked Sendable {
  // Unchecked: guarded by the lock; stores do not mutate the values in place.
  private struct Content: @unchecked Sendable {
    var values: [String: Any]
    var version: UInt64
  }

  private let _content: Mutex<Content>
  private let _objectID: NSManagedObjectID

  /// Creates a node.
  ///
  /// - Parameters:
  ///   - values: Values by property name; names that the entity does not have are ignored.
  ///   - version: A number that increases with each change of the object in the store.
  public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
    _objectID = objectID
    _content = Mutex(Content(values: values, version: version))
    super.init()
  }

  /// Replaces values and version after a save.
  open func update(withValues values: [String: Any], version: UInt64) {
    let content = Content(values: values, version: version)
    _content.withLock { $0 = content }
  }

  /// ID of the object.
  open var objectID: NSManagedObjectID { _objectID }

  /// Version of the values.
  open var version: UInt64 { _content.withLock { $0.version } }

  /// Value of a property; nil if the node does not have it.
  open func value(for prop: NSPropertyDescription) -> Any? {
    _content.withLock { $0 }.values[prop.name]
  }
}
