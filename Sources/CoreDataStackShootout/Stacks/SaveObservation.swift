import CoreData
import Foundation
import Synchronization

/// Listens to one context's saves.
final class SaveObservation: Sendable {
  /// A save that is passed to another queue.
  struct Save: @unchecked Sendable {
    // Unchecked: mergeChanges(fromContextDidSave:) reads the notification on the receiving context's queue
    // and reads only object IDs and values from the objects in it; Core Data documents this hand-over.
    let notification: Notification
  }

  private let _token: Mutex<Token>

  /// The observation token of the notification center; returned to it once.
  private struct Token: @unchecked Sendable {
    // Unchecked: used only to be returned to the center, under the lock.
    var observer: (any NSObjectProtocol)?
  }

  /// Calls `body` after each save of the context, on the context's queue.
  init(of context: NSManagedObjectContext, _ body: @escaping @Sendable (Save) -> Void) {
    let observer = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: context, queue: nil
    ) { notification in
      body(Save(notification: notification))
    }
    _token = Mutex(Token(observer: observer))
  }

  deinit { end() }

  /// Stops observing.
  func end() {
    _token.withLock { token in
      if let observer = token.observer { NotificationCenter.default.removeObserver(observer) }
      token.observer = nil
    }
  }
}
