import Foundation
import Synchronization

/// Calls a block for each notification of a name until it is let go, on any thread.
///
/// On Linux, `NotificationCenter` destroys a removed block under its lock, where a second removal traps. An
/// object which such a block was the last to retain must therefore not remove its own block in `deinit`: a
/// context with an undo manager, captured by an observer, would end the process. This observation gives the
/// center a block that retains nothing, stops at once, and takes the block out of the center later, on a queue
/// of its own.
package final class NotificationObservation: Sendable {
  /// What is called; the center has only a weak reference to it.
  private final class Receiver: Sendable {
    let body: @Sendable (Notification) -> Void

    init(_ body: @escaping @Sendable (Notification) -> Void) { self.body = body }
  }

  /// What the center knows the block by.
  private struct Token: @unchecked Sendable {
    // Unchecked: it is only handed back, once.
    let value: any NSObjectProtocol
  }

  private static let _removals = DispatchQueue(label: "CoreData.NotificationObservation")

  private let _receiver: Mutex<Receiver?>
  private let _token: Token

  /// Begins to observe.
  ///
  /// - Parameters:
  ///   - name: The name of the notifications.
  ///   - object: Who posts them; nil for anyone. Not retained.
  ///   - body: Called on the thread that posts. It may retain what it likes, but not the owner of the
  ///     observation.
  package init(
    of name: Notification.Name, from object: AnyObject? = nil,
    _ body: @escaping @Sendable (Notification) -> Void
  ) {
    let receiver = Receiver(body)
    _receiver = Mutex(receiver)
    _token = Token(
      value: NotificationCenter.default.addObserver(forName: name, object: object, queue: nil) {
        [weak receiver] notification in
        receiver?.body(notification)
      })
  }

  deinit {
    end()
    let token = _token
    Self._removals.async { NotificationCenter.default.removeObserver(token.value) }
  }

  /// Ends the calls, except for those that have begun.
  package func end() {
    // Released outside of the lock: what the body retains may be let go with it.
    let receiver = _receiver.withLock { receiver in
      defer { receiver = nil }
      return receiver
    }
    withExtendedLifetime(receiver) {}
  }
}
