import CoreDataModelSchema
import Foundation

// Reading an object of which only the ID is known.

extension FaultPass {
  /// Returns the object of an ID with its values.
  ///
  /// - Throws: Cocoa error 133000 if there is no such object; errors of the read.
  func existing(_ objectID: NSManagedObjectID) throws -> NSManagedObject {
    context.checkQueue()
    try context.failedReads.check()
    let id = context.registry.localized(objectID)
    let object: NSManagedObject
    var isAlone = false
    if let known = context.registry.heldObject(for: id) {
      object = known
    } else if !context.overlay.layers.isEmpty {
      object = context.registry.makeFault(id)
    } else {
      // Not created as part of a batch.
      object = context.registry.make(id, row: nil)
      isAlone = true
    }
    // Values attached before do not tell whether the row is still there; the row cache drops what is deleted.
    if object.isFault, object._row != nil, object._draft == nil, let key = object._key {
      context.freshness.check()
      if context.rootCoordinator?.cachedRow(
        for: key, at: context.readGeneration, readSince: context.freshness.earliestRow) == nil
      {
        object.attach(nil)
      }
    }
    if object.isFault, object._row == nil, try !load(object, alone: isAlone, checking: true) {
      context.registry.forget(object)
      throw CocoaError.coreData(
        NSManagedObjectReferentialIntegrityError,
        "No object \(objectID.uriRepresentation().absoluteString) exists in the store; it may have been deleted.",
        [NSAffectedObjectsErrorKey: [objectID]])
    }
    object.fireFault()
    return object
  }
}
