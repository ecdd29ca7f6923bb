import CoreData

extension ModelContext {
  /// Writes all changes to the stores, in one transaction per store. Does nothing without changes.
  ///
  /// - Throws: A Cocoa error: of validation (1550 to 1690), or the store's. The changes stay pending.
  public func save() throws {
    mergeNews()
    guard managed.hasChanges else { return }
    NotificationCenter.default.post(name: ModelContext.willSave, object: self)
    managed.processPendingChanges()
    hasUnprocessedDeletions = false
    let (inserted, updated, deleted) = managed.pendingObjects()
    // Objects have no identity once their deletion is saved.
    let deletedIdentifiers = PersistentIdentifier.all(of: deleted)
    try saveToCustomStores()
    try managed.save()
    for case let object as ModelStorage in deleted { object.storage?.leaveContext() }
    releaseKept()
    NotificationCenter.default.post(
      name: ModelContext.didSave, object: self,
      userInfo: [
        NotificationKey.insertedIdentifiers.rawValue: PersistentIdentifier.all(of: inserted),
        NotificationKey.updatedIdentifiers.rawValue: PersistentIdentifier.all(of: updated),
        NotificationKey.deletedIdentifiers.rawValue: deletedIdentifiers,
      ])
  }

  /// Drops all changes: new models leave the context, changed ones return to their stored values, deleted
  /// ones are restored.
  public func rollback() {
    // Values of new models must be copied before the engine drops them.
    let inserted = managed.insertedObjects.compactMap { object -> (ModelStorage, [DetachedValue])? in
      guard let storage = unsafeDowncast(object, to: ModelStorage.self).storage else { return nil }
      return (storage, storage.values())
    }
    managed.rollback()
    hasUnprocessedDeletions = false
    for (storage, values) in inserted { storage.unbind(keeping: values) }
    releaseKept()
  }

  /// Runs a block and saves.
  ///
  /// - Throws: Errors of the block or the save. Nothing is rolled back.
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

  /// Keys of `userInfo` in notifications, by their `rawValue`. The values are arrays of
  /// ``PersistentIdentifier``.
  public enum NotificationKey: String, Hashable, Sendable {
    /// Inserted models.
    case insertedIdentifiers = "inserted"
    /// Updated models.
    case updatedIdentifiers = "updated"
    /// Deleted models.
    case deletedIdentifiers = "deleted"
    /// All models are invalid.
    case invalidatedAllIdentifiers = "invalidatedAllIdentifiers"
    /// The query generation that the context reads.
    case queryGeneration = "queryGeneration"
    /// History tokens of the stores.
    case historyTokens = "historyTokens"
  }
}
