import Foundation

/// A class whose initializers may return an instance of a subclass.
///
/// Foundation on this platform marks `NSPredicate(format:)` and `NSSortDescriptor(key:ascending:)`
/// unavailable. Initializers in a protocol extension may choose the object they return, and overload
/// resolution prefers the available initializer, so through this protocol Core Data code compiles unchanged.
/// Nothing to adopt or call. Not in Core Data.
public protocol ClassCluster {}

extension NSPredicate: ClassCluster {}
extension NSSortDescriptor: ClassCluster {}

extension ClassCluster where Self: AnyObject {
  /// Casts the object to the requested class; traps if that fails.
  static func answer(_ object: AnyObject, _ request: @autoclosure () -> String) -> Self {
    guard let answer = object as? Self else {
      programmerError(
        "NSInvalidArgumentException: \(request()) gives a \(type(of: object)), which is no \(Self.self).")
    }
    return answer
  }
}
