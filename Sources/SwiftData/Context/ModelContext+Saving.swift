import CoreData

extension ModelContext {
  /// Writes all changes to the stores, in one transaction per store. Does nothing without changes.
  ///
  /// - Throws: A Cocoa error: of validation (1550 to 1690), or the store's. The changes stay pending.
  public func save() throws {
    insertJoining()
    mergeNews()
    guard managed.hasChanges else { return }
    NotificationCenter.default.post(name: ModelContext.willSave, object: self)
    managed.processPendingChanges()
    hasUnprocessedDeletions = false
    try followDeletions()
    let (inserted, updated, deleted) = managed.unsavedObjects
    // Objects have no identity once their deletion is saved.
    var deletedIdentifiers = PersistentIdentifier.all(of: deleted)
    let rows = managed.rowDeletions.pending
    try saveToCustomStores()
    do {
      // Also if the save fails: the engine has merged them before.
      defer { _followMergedInsertions() }
      do {
        try managed.save()
      } catch  where setDeclaredValues(missingIn: error) {
        try managed.save()
      }
    }
    for case let object as ModelStorage in deleted { object.storage?.leaveContext() }
    releaseKept()
    var userInfo: [String: Any] = [
      NotificationKey.insertedIdentifiers.rawValue: PersistentIdentifier.all(of: inserted),
      NotificationKey.updatedIdentifiers.rawValue: PersistentIdentifier.all(of: updated),
    ]
    if !rows.isEmpty {
      core.deliver(deletionsOf: rows, from: mailbox)
      if rows.reduce(0, { $0 + $1.keys.count }) <= Self._mostListedRows {
        deletedIdentifiers += rows.flatMap(PersistentIdentifier.all(of:))
      } else {
        userInfo[NotificationKey.invalidatedAllIdentifiers.rawValue] = true
      }
    }
    userInfo[NotificationKey.deletedIdentifiers.rawValue] = deletedIdentifiers
    NotificationCenter.default.post(name: ModelContext.didSave, object: self, userInfo: userInfo)
  }

  /// The most rows deleted by a predicate that a notification lists; they have no models, which would cost as
  /// much memory.
  private static let _mostListedRows = 10_000

  /// Makes models whose unique values a stored or another new model has show that model's object from now on.
  private func _followMergedInsertions() {
    let merged = managed.takeMergedInsertions()
    if merged.isEmpty { return }
    var survivors: [ObjectIdentifier: NSManagedObject] = [:]
    for (object, survivor) in merged { survivors[ObjectIdentifier(object)] = survivor }
    for (object, survivor) in merged {
      var last = survivor
      while let next = survivors[ObjectIdentifier(last)] { last = next }
      guard let storage = unsafeDowncast(object, to: ModelStorage.self).storage else { continue }
      let survivor = unsafeDowncast(last, to: ModelStorage.self)
      if !storage.follow(survivor, core.bindings.binding(of: survivor.entity), link) {
        Console.warn(
          "a \(storage.modelClass.name) had the unique values of a \(survivor.entity.name ?? "?"), which the store has kept; "
            + "later changes of the new instance are not saved.")
      }
    }
  }

  /// Drops all changes: new models leave the context, changed ones return to their stored values, deleted
  /// ones are restored.
  public func rollback() {
    insertJoining()
    // Values of new models must be copied before the engine drops them.
    let inserted = managed.insertedObjects.compactMap { object -> (ModelStorage, [DetachedValue])? in
      guard let storage = unsafeDowncast(object, to: ModelStorage.self).storage else { return nil }
      return (storage, storage.values())
    }
    managed.rollback()
    hasUnprocessedDeletions = false
    if managed.followedDeletions != nil { managed.followedDeletions = [] }
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

  /// Posted when a model could not be read where no error can be thrown, with the context as object, the
  /// model's identity in `userInfo` under ``NotificationKey/failedIdentifier``, and the error under
  /// `NSUnderlyingErrorKey`: once for each model until ``rollback()``. Not in Apple's SwiftData.
  public static let readDidFail = Notification.Name("ModelContextReadDidFail")

  /// Keys of `userInfo` in notifications, by their `rawValue`. The values are arrays of
  /// ``PersistentIdentifier``.
  public enum NotificationKey: String, Hashable, Sendable {
    /// Inserted models.
    case insertedIdentifiers = "inserted"
    /// Updated models.
    case updatedIdentifiers = "updated"
    /// Deleted models.
    case deletedIdentifiers = "deleted"
    /// A model that could not be read.
    case failedIdentifier = "failedIdentifier"
    /// All models may be invalid: a predicate has deleted too many to list.
    case invalidatedAllIdentifiers = "invalidatedAllIdentifiers"
    /// The query generation that the context reads.
    case queryGeneration = "queryGeneration"
    /// History tokens of the stores.
    case historyTokens = "historyTokens"
  }
}
