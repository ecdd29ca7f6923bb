import CoreData

// Other contexts' saves.

extension ModelContext {
  /// Merges the saves of other contexts.
  func mergeNews() {
    switch mailbox.drain() {
    case .none: break
    case .saves(let saves):
      for news in saves {
        if !news.rows.isEmpty {
          managed.rowDeletions.merge(news.rows)
          continue
        }
        managed.mergeChanges(
          fromContextDidSave: Notification(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: nil, userInfo: news.userInfo))
      }
    case .everything: _rereadAll()
    }
  }

  /// Rereads all models. Models whose rows are gone are deleted, as merging the saves would have done.
  private func _rereadAll() {
    do {
      let gone = try _gone()
      if !gone.isEmpty {
        NSManagedObjectContext.mergeChanges(
          fromRemoteContextSave: [NSDeletedObjectIDsKey: gone], into: [managed])
      }
    } catch {
      Console.warn(
        "a context can't ask which of its models are gone, and asks again at its next use: \(error)")
      mailbox.putReset()
    }
    managed.refreshAllObjects()
  }

  /// The registered objects that have no row any more, in one fetch for each entity.
  private func _gone() throws -> [NSManagedObjectID] {
    var stored: [NSEntityDescription: [NSManagedObjectID]] = [:]
    for object in managed.registeredObjects where object.objectID.isPermanent && !object.isInserted {
      // A custom store is asked when a model is read.
      if core.customStore(of: object.entity.name ?? "") == nil {
        stored[object.entity, default: []].append(object.objectID)
      }
    }
    var gone: [NSManagedObjectID] = []
    for (entity, ids) in stored {
      let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name ?? "")
      request.resultType = .managedObjectIDResultType
      request.includesPendingChanges = false
      request.includesSubentities = false
      request.predicate = NSPredicate(format: "SELF IN %@", ids)
      let found = Set(try managed.fetch(request))
      gone += ids.filter { !found.contains($0) }
    }
    return gone
  }
}
