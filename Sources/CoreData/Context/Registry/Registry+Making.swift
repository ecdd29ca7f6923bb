import CoreDataModelSchema

// Making the objects that a context registers.

extension Registry {
  /// Registers a new object for `id`: with the unsaved state of a child's save, or as a fault.
  func makeFault(_ id: NSManagedObjectID) -> NSManagedObject {
    if let entry = context.overlay.layers.entry(for: IdentityKey(id)) {
      return context.links.materialize(entry)
    }
    let object = make(id, row: nil)
    context.faultBatch.add(object)
    return object
  }

  /// Registers a new object for `key`, as `makeFault(_:)` does for an ID.
  func makeFault(_ key: ObjectKey) -> NSManagedObject { object(for: key, inBatches: false) }

  /// Registers a new fault. `row`, if known, holds the values that firing shows.
  func make(_ id: NSManagedObjectID, row: Row?) -> NSManagedObject {
    let object = ObjectMaker.make(id.entity)
    object.identify(as: id)
    object.beginAsFault(of: context, row: row)
    context.table.insert(object)
    return object
  }

  /// Reserves capacity for objects about to be registered. A first fetch registers only new objects; a
  /// repeated one finds its capacity reserved.
  func makeRoom(for count: Int) {
    if count > 64, context.table.count < count / 2 { context.table.reserve(count) }
  }

  /// Registers a new fault for a stored object. `row`, if known, holds the values that firing shows.
  @inline(__always)
  func make(_ stored: ObjectKey, _ key: IdentityKey, row: Row?) -> NSManagedObject {
    // Unretained: the key keeps its space, and the space its entity.
    let space = Unmanaged.passUnretained(stored.space)
    let object = space._withUnsafeGuaranteedRef {
      Unmanaged.passUnretained($0.entity)._withUnsafeGuaranteedRef(ObjectMaker.make)
    }
    object.identify(as: space, stored.reference)
    object.beginAsFault(of: context, row: row)
    context.table.insert(object, as: key)
    return object
  }
}
