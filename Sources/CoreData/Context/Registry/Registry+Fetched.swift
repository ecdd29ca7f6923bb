import CoreDataModelSchema

// Registers objects for many rows or keys at once: the path of every fetch and every to-many.

extension Registry {
  /// Returns the objects for fetched rows, in order. Registered objects keep their values.
  func objects(for found: [StoredObject]) -> [NSManagedObject] {
    let layers = context.overlay.layers
    guard layers.isEmpty else { return found.map { object(for: $0) } }
    makeRoom(for: found.count)
    var faults: [ObjectKey] = []
    var objects: [NSManagedObject] = []
    objects.reserveCapacity(found.count)
    // In place: copying a stored object would retain its references.
    found.withUnsafeBufferPointer { found in
      for index in found.indices {
        let key = IdentityKey(found[index].key)
        if let object = heldObject(for: key) {
          if object.isFault { context.freshness.reattach(found[index].row, to: object) }
          objects.append(object)
          continue
        }
        let row = found[index].row
        if row == nil { faults.append(found[index].key) }
        objects.append(make(found[index].key, key, row: row))
      }
    }
    context.faultBatch.add(faults)
    return objects
  }

  /// Returns the object for a fetched row. A registered object keeps its values.
  func object(for stored: StoredObject) -> NSManagedObject {
    let key = IdentityKey(stored.key)
    if let object = heldObject(for: key) {
      guard object.isFault else { return object }
      if object._row == nil {
        object.setRow(from: stored)
        object._state.attachValues(context.ages.stamps.current)
      } else if stored.part == nil {
        context.freshness.reattach(stored.row, to: object)
      }
      return object
    }
    if let entry = context.overlay.layers.entry(for: key) { return context.links.materialize(entry) }
    if stored.part != nil {
      let object = make(stored.key, key, row: nil)
      object.setRow(from: stored)
      context.faultBatch.add(stored.key)
      return object
    }
    let object = make(stored.key, key, row: stored.row)
    if stored.row == nil { context.faultBatch.add(stored.key) }
    return object
  }
}
