import CoreData

/// A to-do item. Written by hand, so that the class is the same on all platforms.
#if canImport(ObjectiveC)
@objc(Item)
#endif
public final class Item: NSManagedObject {
  /// The text of the item.
  @NSManaged public var text: String
  /// When the item was done; nil if it is not.
  @NSManaged public var done: Date?
  /// The position in the list.
  @NSManaged public var position: Int32
}
