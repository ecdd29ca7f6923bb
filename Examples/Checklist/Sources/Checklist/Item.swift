import CoreData

/// Something to be done. Written by hand, so that it is the same class on all platforms.
#if canImport(ObjectiveC)
@objc(Item)
#endif
public final class Item: NSManagedObject {
  /// What is to be done.
  @NSManaged public var text: String
  /// When it was done; nil as long as it is not.
  @NSManaged public var done: Date?
  /// Its place in the list.
  @NSManaged public var position: Int32
}
