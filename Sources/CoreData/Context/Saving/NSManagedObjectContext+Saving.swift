import CoreDataModelSchema
import Foundation

// What a context's open members for saving do.

extension NSManagedObjectContext {
  /// Saves, with work of the program's in the transaction of one store, which has it even without changes.
  package final func save(with work: any StoreWork, in store: NSPersistentStore) throws {
    checkQueue()
    guard !saving.isActive else { return try save() }
    saving.work = (store, work)
    defer { saving.work = nil }
    try save()
  }

  /// Accepts the layers that children delivered while this context's queue was busy.
  final func drainDeliveries() {
    guard !saving.isActive, !events.isProcessing else { return }
    while let delivery = overlay.nextDelivery() {
      AcceptPass(self).run(delivery) { overlay.completeDelivery(as: $0) }
    }
  }

  /// The merge policy in force. A value that is not an `NSMergePolicy` counts as the default.
  final var policy: NSMergePolicy { mergePolicy as? NSMergePolicy ?? .error }

  final func givePermanentIDs(to objects: [NSManagedObject]) throws {
    let temporary = objects.filter { $0._objectID.isTemporary && $0._objectID.permanent == nil }
    if !temporary.isEmpty {
      guard let coordinator = persistentStoreCoordinator else {
        throw CocoaError.coreData(
          NSCoreDataError, "\(label) has no coordinator to obtain permanent IDs from.")
      }
      try coordinator.obtainPermanentIDs(for: temporary.map(\._objectID), in: self)
    }
    table.move(temporary)
    for object in objects {
      if let id = object._id, id.isTemporary, let permanent = id.permanent {
        // A lookup moves an object to its permanent ID.
        _ = table.object(for: permanent)
        object.adoptPermanentID()
      }
    }
  }

  /// Announces, at the end of the current save, that an object shows values from the store that were not assigned in this
  /// context.
  final func recordNews(of object: NSManagedObject) {
    editing.recordEvent(object, .eventRefreshed)
    saving.showsNews = true
  }
}
