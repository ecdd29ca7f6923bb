/// Classes with methods that give way to an app's or a library's own of the same name and type.
///
/// Core Data's blocks that return values came late; many libraries had declared such methods before:
/// `performAndWait(_:)` with a result, `performBackgroundTask(_:)` that can be awaited. If both were members
/// of the class, a call would be ambiguous where both modules are imported. Swift prefers a member of the
/// class to one of a protocol's extension, so these are declared there.
///
/// ```swift
/// let count = try context.performAndWait { try context.count(for: request) }
/// ```
public protocol GivingWay: AnyObject {}

extension NSManagedObjectContext: GivingWay {}
extension NSPersistentStoreCoordinator: GivingWay {}
extension NSPersistentContainer: GivingWay {}
