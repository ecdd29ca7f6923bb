import Foundation

/// The changes of a save, as values: merging contexts read them instead of the saved objects.
final class SavedChanges: NSObject, @unchecked Sendable {
  // Unchecked: immutable values; the superclass has no state.
  static let key = "CoreData.savedChanges"

  let entries: [ChangeLayer.Entry]
  let coordinator: NSPersistentStoreCoordinator?
  /// Whether the changes were saved into stores; in a parent they are still unsaved.
  let isStored: Bool
  /// Epoch of the row cache after a save into stores; increases with each save.
  let epoch: Int
  /// The first epoch that is not certainly older than these changes: that of the earliest save composed into them, or the
  /// one after which it began if other saves were made side by side with it.
  let firstEpoch: Int
  /// The number of saves composed into these changes.
  private let _saveCount: Int

  /// - Parameters:
  ///   - entries: The saved entries.
  ///   - isStored: Whether they were saved into stores.
  ///   - context: A context of the stack that saved them.
  init(_ entries: [ChangeLayer.Entry], isStored: Bool, context: NSManagedObjectContext) {
    self.isStored = isStored
    self.entries = isStored ? entries.persistent : entries
    coordinator = context.persistentStoreCoordinator
    epoch = context.saving.epoch
    // A context that has saved nothing yet is at the epoch 0.
    firstEpoch = min(epoch, context.saving.begunEpoch + 1)
    _saveCount = 1
  }

  /// Creates the composition of several saves into the stores of a coordinator.
  init(
    stored entries: [ChangeLayer.Entry], coordinator: NSPersistentStoreCoordinator?, epochs: ClosedRange<Int>,
    saves: Int
  ) {
    isStored = true
    self.entries = entries
    self.coordinator = coordinator
    epoch = epochs.upperBound
    firstEpoch = epochs.lowerBound
    _saveCount = saves
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Whether other saves into the stores may have produced newer rows: later ones, or some between those composed here.
  var isOvertaken: Bool {
    isStored && (coordinator?.rowCache.epoch != epoch || epoch - firstEpoch + 1 != _saveCount)
  }

  var insertionCount: Int {
    var count = 0
    entries.forEachUnretained { if $0.kind == .inserted { count += 1 } }
    return count
  }
}
