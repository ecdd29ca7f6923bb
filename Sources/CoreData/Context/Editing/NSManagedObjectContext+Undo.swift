import CoreDataModelSchema
import Foundation

// Undoing changes, one event at a time.

extension NSManagedObjectContext {
  final func recordChanges(with manager: UndoManager?) {
    guard manager !== _undo?.manager else { return }
    _undo = manager.map { UndoLink($0, self) }
  }

  final func undoChanges() {
    checkQueue()
    guard let manager = undoManager else { return }
    processPendingChanges()
    manager.undo()
  }

  final func redoChanges() {
    checkQueue()
    guard let manager = undoManager else { return }
    processPendingChanges()
    manager.redo()
  }

  /// Records the state of objects before they change; nil without an undo manager or while registration is
  /// disabled.
  @inline(__always)
  final var undoRecorder: UndoRecorder? {
    guard let _undo else { return nil }
    return _undo.recorder
  }

  /// Reverts an unsaved deletion of a registered object.
  package final func takeBackDeletion(of object: NSManagedObject) {
    guard object._context === self, object._flags.contains(.deleted) else { return }
    UndoPass(self).reappear(object)
  }
}
