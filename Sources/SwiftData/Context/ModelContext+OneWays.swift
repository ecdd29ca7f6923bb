import CoreData

// Relationships without inverse. Core Data leaves deleted objects in them; here they lose them, as those with an inverse
// do by its Nullify rule.

extension ModelContext {
  /// Removes models from relationships without inverse after delete rules were applied to their deletion.
  ///
  /// - Throws: Errors of finding the models that refer to deleted ones; a later call tries again.
  func followDeletions() throws {
    guard let deleted = managed.followedDeletions, !deleted.isEmpty else { return }
    managed.followedDeletions = []
    let gone = deleted.filter { $0.isDeleted && $0.managedObjectContext === managed }
    do {
      for object in gone { managed.cutOneWayMembership(of: object) }
      for oneWay in core.bindings.oneWays { try _cut(oneWay, to: gone) }
    } catch {
      managed.followedDeletions = deleted
      throw error
    }
    managed.processPendingChanges()
  }

  /// Sets an optional to-one without inverse to nil where it leads to one of these objects.
  private func _cut(_ oneWay: OneWay, to deleted: [NSManagedObject]) throws {
    let gone = deleted.filter { $0.entity.isKindOf(entity: oneWay.destination) }
    guard !gone.isEmpty, core.customStore(of: oneWay.entity) == nil else { return }
    let request = NSFetchRequest<NSManagedObject>(entityName: oneWay.entity)
    request.predicate = NSPredicate(format: "%K IN %@", oneWay.name, gone)
    for owner in try managed.fetch(request) where !owner.isDeleted { owner.setTarget(nil, at: oneWay.slot) }
  }
}

/// An optional to-one relationship without inverse.
struct OneWay {
  let entity: String
  let name: String
  let slot: Int
  let destination: NSEntityDescription
}
