import CoreDataModelSchema

// Objects for many rows or keys at once: what every fetch and every to-many goes through.

extension NSManagedObjectContext {
  /// The objects for what a store has found, in its order; registered ones keep their values.
  final func objects(for found: [StoredObject]) -> [NSManagedObject] {
    let layers = overlay.layers
    guard layers.isEmpty else { return found.map { object(for: $0) } }
    makeRoom(for: found.count)
    var faults: [ObjectKey] = []
    let objects = found.map { stored in
      let key = IdentityKey(stored.key)
      if let object = heldObject(for: key) {
        if object.isFault, object._row == nil { object._row = stored.row }
        return object
      }
      if stored.row == nil { faults.append(stored.key) }
      return make(stored.key, key, row: stored.row)
    }
    faultBatch.add(faults)
    return objects
  }

  /// The results as objects of their class; nil if any is of another one.
  final func casted<T>(_ objects: [NSManagedObject], to type: T.Type) -> [T]? {
    guard let wanted = T.self as? NSManagedObject.Type else { return nil }
    // Objects of one class mostly follow each other: each class is looked at once.
    var fitting = ObjectIdentifier(wanted)
    for object in objects where ObjectIdentifier(Swift.type(of: object)) != fitting {
      guard object is T else { return nil }
      fitting = ObjectIdentifier(Swift.type(of: object))
    }
    // Arrays of objects are laid out alike, whatever their class.
    return unsafeBitCast(objects, to: [T].self)
  }

  /// Makes places for objects about to be registered. What is fetched for the first time is all new; what was
  /// fetched before has its places already.
  final func makeRoom(for count: Int) {
    if count > 64, table.count < count / 2 { table.reserve(count) }
  }

  /// Registers a new fault that stands for a stored object; `row` is what it shows when filled, if that is at
  /// hand.
  @inline(__always)
  final func make(_ stored: ObjectKey, _ key: IdentityKey, row: Row?) -> NSManagedObject {
    let object = ObjectMaker.make(stored.space.entity)
    object.identify(as: stored)
    object._context = self
    object._row = row
    object._state.beginAsFault(checked: isChecked, recordingReads: recordsReads)
    table.insert(object, as: key)
    return object
  }
}
