import CoreData
import Dispatch

/// The autosave settings of a context.
final class AutosaveState {
  /// Whether autosaving is enabled.
  var isEnabled = true
  /// Whether the context was created on the main thread.
  var isPossible = false
  var isScheduled = false
}

extension ModelContext {
  /// Schedules one save at the end of this turn of the main queue, for all changes until then. The scheduled save
  /// retains the context, so that changes are saved even if the program lets the context go before.
  func scheduleAutosave() {
    guard autosave.isPossible, autosave.isEnabled, !autosave.isScheduled, NSManagedObjectContext.isOnMainQueue
    else { return }
    autosave.isScheduled = true
    // Contexts created on the main thread are used on it; the queue is the main one.
    nonisolated(unsafe) let context = self
    DispatchQueue.main.async { context._autosaveNow() }
  }

  private func _autosaveNow() {
    autosave.isScheduled = false
    guard autosave.isEnabled, hasChanges else { return }
    do {
      try save()
    } catch {
      Console.warn("autosave failed; the changes stay pending: \(error)")
    }
  }
}
