import CoreData

extension ModelContext {
  /// Marks a model to be deleted by the next save; one that was never saved is dropped at once. Does nothing for a model
  /// that is deleted already or belongs to no context. Traps for a model of another context.
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
    // What is known now can be read after the deletion was saved.
    object.willAccessValue(forKey: nil)
    managed.delete(object)
    hasUnprocessedDeletions = true
  }

  /// Marks all stored models that meet a predicate to be deleted by the next save, and what their delete rules take along.
  ///
  /// Models that aren't saved yet, and changes that aren't, don't count.
  ///
  /// - Parameters:
  ///   - model: Class of the models.
  ///   - predicate: What they meet; nil for all.
  ///   - includeSubclasses: Whether those of subclasses are deleted, too.
  /// - Throws: `SwiftDataError` for a class that the container lacks or a predicate that can't be evaluated, and what a
  ///   fetch throws.
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
    for object in try fetch.objects() where !object.isDeleted {
      if let storage = unsafeDowncast(object, to: ModelObject.self).storage { keep(storage) }
      managed.delete(object)
      hasUnprocessedDeletions = true
    }
    scheduleAutosave()
  }

  /// Applies delete rules, so that fetches leave out what they take along.
  func applyDeletions() {
    guard hasUnprocessedDeletions else { return }
    hasUnprocessedDeletions = false
    managed.processPendingChanges()
  }
}
