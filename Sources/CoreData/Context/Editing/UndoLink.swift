import Foundation
import Synchronization

/// A context's undo manager and its recorder.
final class UndoLink {
  let manager: UndoManager
  let recorder = UndoRecorder()
  private let _observation: NotificationObservation
  /// Whether any context has had an undo manager. Until then, changes skip the check of their context's
  /// manager.
  static let isInUse = Atomic<Bool>(false)

  init(_ manager: UndoManager, _ context: NSManagedObjectContext) {
    self.manager = manager
    Self.isInUse.store(true, ordering: .relaxed)
    // An undo through the manager itself first undoes pending changes.
    let reference = WeakContext(context: context)
    _observation = NotificationObservation(of: .NSUndoManagerCheckpoint, from: manager) { _ in
      guard let context = reference.context, !context.events.isProcessing else { return }
      context.processPendingChanges()
    }
  }

  /// Drops all undo actions of a context.
  func forget(_ context: NSManagedObjectContext) {
    recorder.forget()
    manager.removeAllActions(withTarget: context)
  }

  /// Registers the changes of the event just processed.
  func register(_ changes: [ObjectChange], of context: NSManagedObjectContext) {
    guard !changes.isEmpty, manager.isUndoRegistrationEnabled else { return }
    let needsGroup = !manager.groupsByEvent && manager.groupingLevel == 0
    if needsGroup { manager.beginUndoGrouping() }
    manager.registerUndo(withTarget: context) { context in UndoPass(context).run(changes) }
    if needsGroup { manager.endUndoGrouping() }
  }
}
