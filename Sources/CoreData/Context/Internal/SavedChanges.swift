import Foundation

/// What a save has written, as values: what merging contexts read instead of the saver's objects.
final class SavedChanges: NSObject, @unchecked Sendable {
  // Unchecked: immutable values; the superclass has no state.
  static let key = "CoreData.savedChanges"

  let entries: [Layer.Entry]
  let coordinator: NSPersistentStoreCoordinator?
  /// Whether the stores have it; what went to a parent is unsaved there.
  let isStored: Bool
  /// Mark of the row cache's state that a save into stores has led to; later saves have higher ones.
  let epoch: Int

  /// - Parameters:
  ///   - entries: What was saved.
  ///   - isStored: Whether into stores.
  ///   - context: A context of the stack that it was saved in.
  init(_ entries: [Layer.Entry], isStored: Bool, context: NSManagedObjectContext) {
    self.isStored = isStored
    self.entries = isStored ? entries.persistent : entries
    coordinator = context.persistentStoreCoordinator
    epoch = context.savePass.epoch
  }

  var isEmpty: Bool { entries.isEmpty }

  /// Whether others have saved into the stores since, so that rows may be newer there.
  var isOvertaken: Bool { isStored && coordinator?.rowCache.epoch != epoch }

  var insertionCount: Int {
    var count = 0
    entries.forEachHeld { if $0.kind == .inserted { count += 1 } }
    return count
  }
}
