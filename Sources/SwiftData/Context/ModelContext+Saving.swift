import CoreData

extension ModelContext {
  /// Writes all changes to the stores, in one transaction for each. Does nothing if there are none.
  ///
  /// - Throws: A Cocoa error: of validation (1550 to 1690), or the store's. The changes stay pending.
  public func save() throws {
    mergeNews()
    guard managed.hasChanges else { return }
    NotificationCenter.default.post(name: ModelContext.willSave, object: self)
    managed.processPendingChanges()
    hasUnprocessedDeletions = false
    let (inserted, updated, deleted) = managed.pendingObjects()
    // Objects whose deletion is saved have no identity any more.
    let deletedIdentifiers = PersistentIdentifier.all(of: deleted)
    try saveToCustomStores()
    try managed.save()
    for case let object as ModelObject in deleted { object.storage?.leaveContext() }
    releaseKept()
    NotificationCenter.default.post(
      name: ModelContext.didSave, object: self,
      userInfo: [
        NotificationKey.insertedIdentifiers.rawValue: PersistentIdentifier.all(of: inserted),
        NotificationKey.updatedIdentifiers.rawValue: PersistentIdentifier.all(of: updated),
        NotificationKey.deletedIdentifiers.rawValue: deletedIdentifiers,
      ])
  }

  /// Drops all changes: new models belong to no context again, changed ones show what is stored, deleted ones are back.
  public func rollback() {
    // What new models hold has to be taken before the engine drops it.
    let inserted = managed.insertedObjects.compactMap { object -> (ModelStorage, [DetachedValue])? in
      guard let storage = unsafeDowncast(object, to: ModelObject.self).storage else { return nil }
      return (storage, storage.values())
    }
    managed.rollback()
    hasUnprocessedDeletions = false
    for (storage, values) in inserted { storage.unbind(keeping: values) }
    releaseKept()
  }

  /// Runs a block and saves.
  ///
  /// - Throws: What the block or the save throws. Nothing is rolled back then.
  public func transaction(block: () throws -> Void) throws {
    try block()
    try save()
  }
}

extension ModelContext {
  /// Posted before a save, with the context as object.
  public static let willSave = Notification.Name("ModelContextWillSave")
  /// Posted after a save, with the context as object and ``NotificationKey``s in `userInfo`.
  public static let didSave = Notification.Name("ModelContextDidSave")

  /// Keys of `userInfo` in notifications: look up by `rawValue`. The values are arrays of ``PersistentIdentifier``.
  public enum NotificationKey: String, Hashable, Sendable {
    /// Models that were inserted.
    case insertedIdentifiers = "inserted"
    /// Models that were changed.
    case updatedIdentifiers = "updated"
    /// Models that were deleted.
    case deletedIdentifiers = "deleted"
    /// All models are invalid.
    case invalidatedAllIdentifiers = "invalidatedAllIdentifiers"
    /// State of the stores that is read.
    case queryGeneration = "queryGeneration"
    /// Places in the stores' histories.
    case historyTokens = "historyTokens"
  }
}
