import Foundation

/// A class whose initialisers may answer an instance of a subclass.
///
/// Foundation here marks `NSPredicate(format:)` and `NSSortDescriptor(key:ascending:)` unavailable.
/// Initialisers in an extension of a protocol may choose the object they answer, and the available one of two
/// is taken: through this protocol Core Data code compiles unchanged. Nothing to adopt or call. Not in Core
/// Data.
public protocol ClassCluster {}

extension NSPredicate: ClassCluster {}
extension NSSortDescriptor: ClassCluster {}

extension ClassCluster where Self: AnyObject {
  /// The object as what was asked for; traps if it is no such thing.
  static func answer(_ object: AnyObject, _ request: @autoclosure () -> String) -> Self {
    guard let answer = object as? Self else {
      programmerError(
        "NSInvalidArgumentException: \(request()) gives a \(type(of: object)), which is no \(Self.self).")
    }
    return answer
  }
}
