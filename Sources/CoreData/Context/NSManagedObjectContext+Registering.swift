import CoreDataModelSchema

// Registers objects for many rows or keys at once: the path of every fetch and every to-many.

extension NSManagedObjectContext {
  /// Returns the objects for fetched rows, in order. Registered objects keep their values.
  final func objects(for found: [StoredObject]) -> [NSManagedObject] {
    let layers = overlay.layers
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
          if object.isFault { reattach(found[index].row, to: object) }
          objects.append(object)
          continue
        }
        let row = found[index].row
        if row == nil { faults.append(found[index].key) }
        objects.append(make(found[index].key, key, row: row))
      }
    }
    faultBatch.add(faults)
    return objects
  }

  /// Returns the objects cast to `type`, or nil if any is of another class.
  final func casted<T>(_ objects: [NSManagedObject], to type: T.Type) -> [T]? {
    guard let wanted = T.self as? NSManagedObject.Type else { return nil }
    // Objects of one class are usually adjacent, so each class is checked once.
    var fitting = ObjectIdentifier(wanted)
    for object in objects where ObjectIdentifier(Swift.type(of: object)) != fitting {
      guard object is T else { return nil }
      fitting = ObjectIdentifier(Swift.type(of: object))
    }
    // Arrays of objects have the same layout for every class.
    return unsafeBitCast(objects, to: [T].self)
  }

  /// Reserves capacity for objects about to be registered. A first fetch registers only new objects; a
  /// repeated one finds its capacity reserved.
  final func makeRoom(for count: Int) {
    if count > 64, table.count < count / 2 { table.reserve(count) }
  }

  /// Registers a new fault for a stored object. `row`, if known, holds the values that firing shows.
  @inline(__always)
  final func make(_ stored: ObjectKey, _ key: IdentityKey, row: Row?) -> NSManagedObject {
    // Unretained: the key keeps its space, and the space its entity.
    let space = Unmanaged.passUnretained(stored.space)
    let object = space._withUnsafeGuaranteedRef {
      Unmanaged.passUnretained($0.entity)._withUnsafeGuaranteedRef(ObjectMaker.make)
    }
    object.identify(as: space, stored.reference)
    object.beginAsFault(of: self, row: row)
    table.insert(object, as: key)
    return object
  }

  /// Returns the object for a fetched row. A registered object keeps its values.
  final func object(for stored: StoredObject) -> NSManagedObject {
    let key = IdentityKey(stored.key)
    if let object = heldObject(for: key) {
      guard object.isFault else { return object }
      if object._row == nil {
        object.setRow(from: stored)
        object._state.attachValues(stamps.current)
      } else if stored.part == nil {
        reattach(stored.row, to: object)
      }
      return object
    }
    if let entry = overlay.layers.entry(for: key) { return links.materialize(entry) }
    if stored.part != nil {
      let object = make(stored.key, key, row: nil)
      object.setRow(from: stored)
      faultBatch.add(stored.key)
      return object
    }
    let object = make(stored.key, key, row: stored.row)
    if stored.row == nil { faultBatch.add(stored.key) }
    return object
  }
}
