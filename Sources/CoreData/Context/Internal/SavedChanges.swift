import Foundation

/// The changes of a save, as values: merging contexts read them instead of the saved objects.
final class SavedChanges: NSObject, @unchecked Sendable {
  // Unchecked: immutable values; the superclass has no state.
  static let key = "CoreData.savedChanges"

  let entries: [Layer.Entry]
  let coordinator: NSPersistentStoreCoordinator?
  /// Whether the changes were saved into stores; in a parent they are still unsaved.
  let isStored: Bool
  /// Epoch of the row cache after a save into stores; increases with each save.
  let epoch: Int

  /// - Parameters:
  ///   - entries: The saved entries.
  ///   - isStored: Whether they were saved into stores.
  ///   - context: A context of the stack that saved them.
  init(_ entries: [Layer.Entry], isStored: Bool, context: NSManagedObjectContext) {
    self.isStored = isStored
    self.entries = isStored ? entries.persistent : entries
    coordinator = context.persistentStoreCoordinator
    epoch = context.savePass.epoch
  }

  /// Creates the composition of several saves into the stores of a coordinator.
  init(stored entries: [Layer.Entry], coordinator: NSPersistentStoreCoordinator?, epoch: Int) {
    isStored = true
    self.entries = entries
    self.coordinator = coordinator
    self.epoch = epoch
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Whether later saves into the stores may have produced newer rows.
  var isOvertaken: Bool { isStored && coordinator?.rowCache.epoch != epoch }

  var insertionCount: Int {
    var count = 0
    entries.forEachHeld { if $0.kind == .inserted { count += 1 } }
    return count
  }
}
