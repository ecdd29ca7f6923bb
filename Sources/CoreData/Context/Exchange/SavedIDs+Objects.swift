extension SavedIDs {
  /// Collects the IDs of objects.
  init(_ sets: EventSets) {
    func identities(_ objects: Set<NSManagedObject>) -> Set<NSManagedObjectID> {
      var ids = Set<NSManagedObjectID>(minimumCapacity: objects.count)
      for object in objects { ids.insert(object._objectID) }
      return ids
    }
    self.init(
      inserted: identities(sets.inserted), updated: identities(sets.updated),
      deleted: identities(sets.deleted))
  }

  /// Whether these are the IDs of objects that are all among a layer's changes.
  func belong(to sets: EventSets) -> Bool {
    areShared && inserted.count == sets.inserted.count && updated.count == sets.updated.count
      && deleted.count == sets.deleted.count
  }
}
