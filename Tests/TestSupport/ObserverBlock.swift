import Foundation

/// A block of the notification center that is the last to retain an object.
package enum ObserverBlock {
  /// Lets an object go by the removal of such a block, and returns whether the object is gone.
  ///
  /// The center destroys the block under its lock: the process traps if the object then removes another.
  package static func letsGo<Object: AnyObject>(of make: () throws -> Object) rethrows -> Bool {
    weak var last: Object?
    var token: (any NSObjectProtocol)?
    do {
      nonisolated(unsafe) let object = try make()
      last = object
      token = NotificationCenter.default.addObserver(
        forName: Notification.Name("ObserverBlock"), object: nil, queue: nil
      ) { _ in withExtendedLifetime(object) {} }
    }
    guard let token, last != nil else { return false }
    NotificationCenter.default.removeObserver(token)
    return last == nil
  }
}
