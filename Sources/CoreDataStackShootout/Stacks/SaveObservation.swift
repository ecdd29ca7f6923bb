import CoreData
import Foundation

/// Listens to one context's saves.
final class SaveObservation: Sendable {
  /// A save that is passed to another queue.
  struct Save: @unchecked Sendable {
    // Unchecked: mergeChanges(fromContextDidSave:) reads the notification on the receiving context's queue
    // and reads only object IDs and values from the objects in it; Core Data documents this hand-over.
    let notification: Notification
  }

  private let _observation: NotificationObservation

  /// Calls `body` after each save of the context, on the context's queue.
  init(of context: NSManagedObjectContext, _ body: @escaping @Sendable (Save) -> Void) {
    _observation = NotificationObservation(of: .NSManagedObjectContextDidSave, from: context) {
      notification in
      body(Save(notification: notification))
    }
  }

  /// Stops observing.
  func end() { _observation.end() }
}
