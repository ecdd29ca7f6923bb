import Foundation
import ModelSchema

// Filling faults.

extension NSManagedObjectContext {
  /// Fills a fault; values at hand are shown, else they are read, along with those of its neighbours.
  final func fire(_ object: NSManagedObject) {
    if object._row == nil, !(object._flags.contains(.inserted) && object._draft != nil) {
      let found: Bool
      do {
        found = try load(object)
      } catch {
        programmerError(
          "could not fulfil a fault for '\(object.objectID.uriRepresentation().absoluteString)': \(error)")
      }
      if !found {
        handleInaccessible(object)
        return
      }
    }
    object._flags.remove(.fault)
    object.dropPartialValues()
    guard object._shape.hasOwnClass else { return }
    object._flags.insert(.awakening)
    object.awakeFromFetch()
    object._flags.remove(.awakening)
  }

  /// Attaches the values of a fault without showing them yet.
  ///
  /// - Returns: False if there is no such object.
  final func load(_ object: NSManagedObject) throws -> Bool {
    let chain = ReadChain(above: self)
    let (found, neighbours) = try chain.row(for: object._objectID) {
      guard let key = object._objectID.key else { return [] }
      return faultBatch.neighbours(of: key).filter { other in
        guard other.space.layout.rootNumber == key.space.layout.rootNumber,
          let fault = table.object(for: other)
        else { return false }
        return fault.isFault && fault._row == nil && chain.entry(for: ObjectTable.Key(other)) == nil
      }
    }
    for (key, row) in neighbours {
      if let fault = table.object(for: key), fault.isFault, fault._row == nil { fault._row = row }
    }
    guard case .row(let row) = found else { return false }
    object._row = row
    return true
  }

  /// A fault whose row is gone becomes a deleted object with nil values, or stops the program.
  private final func handleInaccessible(_ object: NSManagedObject) {
    guard shouldHandleInaccessibleFault(object, for: object._objectID, triggeredByProperty: nil) else {
      programmerError(
        "could not fulfil a fault for '\(object.objectID.uriRepresentation().absoluteString)': the row is not in the store "
          + "any more. Set shouldDeleteInaccessibleFaults to have such objects treated as deleted.")
    }
    object._row = Row(count: object._layout.slots.count, version: 0)
    object._flags.remove(.fault)
    object._flags.formUnion([.deletePropagated])
    markDeleted(object)
  }

  // MARK: Relationships

  /// Objects of a to-many as upstream has them; errors of the store leave it empty, with a line on the standard error.
  final func relatedObjects(of object: NSManagedObject, slot: Int) -> [NSManagedObject] {
    relatedIDs(of: object, slot: slot).map { self.object(with: $0) }
  }

  final func relatedIDs(of object: NSManagedObject, slot: Int) -> [NSManagedObjectID] {
    if object._objectID.isTemporaryID, object._objectID.permanent == nil, _parent == nil { return [] }
    do {
      return try ReadChain(above: self).related(to: object._objectID, slot: slot)
    } catch {
      programmerError(
        "could not read '\(object._layout.slots[slot].name)' of "
          + "'\(object.objectID.uriRepresentation().absoluteString)': \(error)")
    }
  }
}
