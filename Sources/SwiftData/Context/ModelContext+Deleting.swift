import CoreData

extension ModelContext {
  /// Marks a model for deletion by the next save; a never-saved one is dropped immediately. Does nothing for
  /// a model that is deleted already or belongs to no context. Traps for a model of another context.
  public func delete<T>(_ model: T) where T: PersistentModel {
    guard let storage = model._modelStorage, let object = storage.object,
      let theirs = storage.link
    else { return }
    guard theirs === link else {
      programmerError(
        "a \(T.self) of another context can't be deleted here. Get this context's own with "
          + "model(for: other.persistentModelID).")
    }
    guard object.managedObjectContext === managed, !object.isDeleted else { return }
    if object.isInserted {
      let values = storage.values()
      managed.delete(object)
      managed.processPendingChanges()
      storage.unbind(keeping: values)
      scheduleAutosave()
      return
    }
    keep(storage)
    // Values loaded now remain readable after the deletion is saved.
    object.willAccessValue(forKey: nil)
    managed.delete(object)
    hasUnprocessedDeletions = true
  }

  /// Marks all stored models that satisfy a predicate for deletion by the next save, along with those to
  /// which their delete rules cascade.
  ///
  /// Ignores unsaved models and changes. Stored rows of which nothing is unsaved and whose delete rules leave the remaining
  /// rows alone are marked by their keys, without making models, and deleted with a statement for each entity.
  ///
  /// - Parameters:
  ///   - model: Class of the models.
  ///   - predicate: The condition for deletion; nil for all.
  ///   - includeSubclasses: Whether to include models of subclasses.
  /// - Throws: `SwiftDataError` for a class that the container lacks or a predicate that can't be evaluated,
  ///   and errors of the fetch.
  public func delete<T>(
    model: T.Type, where predicate: Predicate<T>? = nil, includeSubclasses: Bool = true
  ) throws where T: PersistentModel {
    if let store = core.customStore(of: ModelClass.of(T.self).name),
      try store.delete(T.self, predicate, includeSubclasses, editingState)
    {
      store.bridge.removeAll()
      return
    }
    var descriptor = FetchDescriptor<T>(predicate: predicate)
    descriptor.includePendingChanges = false
    let fetch = try ModelFetch(descriptor, in: self)
    fetch.request.includesSubentities = includeSubclasses
    for object in try _deletedAlone(by: fetch) ?? fetch.objects() where !object.isDeleted {
      if let storage = unsafeDowncast(object, to: ModelStorage.self).storage { keep(storage) }
      managed.delete(object)
      hasUnprocessedDeletions = true
    }
    scheduleAutosave()
  }

  /// Marks the rows of a fetch for deletion without making models.
  ///
  /// - Returns: The registered objects among them; nil if all of them need objects.
  private func _deletedAlone<T>(by fetch: ModelFetch<T>) throws -> [NSManagedObject]? {
    guard fetch.isWhole else { return nil }
    prepareFetch()
    do {
      if let registered = try managed.rowDeletions.delete(matching: fetch.request) { return registered }
    } catch  where UntranslatableQueryError.isReason(of: error) {}
    // The fetch finds the rows of earlier calls again.
    managed.rowDeletions.readAll()
    return nil
  }

  /// Applies delete rules, so that fetches omit models to which deletions cascade.
  func applyDeletions() {
    guard hasUnprocessedDeletions else { return }
    hasUnprocessedDeletions = false
    managed.processPendingChanges()
    do {
      try followDeletions()
    } catch {
      // The save tries again, and fails with the error.
      Console.warnOnce(about: "one-ways", "models that refer to deleted ones can't be found: \(error)")
    }
  }
}
