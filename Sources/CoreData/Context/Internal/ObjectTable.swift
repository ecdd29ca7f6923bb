/// The registry of a context: its managed objects by identity. Open addressing, linear probing.
///
/// The table holds objects strongly until `sweep` drops those without another reference. Looking up and
/// creating an object thus costs no weak reference, and the observable behaviour matches Core Data: a clean,
/// unreferenced object is no longer registered (`registeredObjects` and every look-up that could reveal one
/// sweep first).
///
/// Mutated in place without exclusivity checks, so no call may run the program's own code: objects are never
/// deallocated inside a call. Removed objects are handed to the caller.
struct ObjectTable {
  /// One slot: empty, or an object retained by the table, with its key.
  private struct Place {
    var reference: Int64 = 0
    var space: UInt64 = 0
    var object: Unmanaged<NSManagedObject>?

    @inline(__always) func has(_ key: IdentityKey) -> Bool {
      reference == key.reference && space == key.space
    }

    var key: IdentityKey { IdentityKey(reference: reference, space: space) }
  }

  /// The storage. A class only so that its deinit releases the objects; look-ups do no reference counting.
  private final class Places {
    let start: UnsafeMutablePointer<Place>
    let mask: Int

    init(_ count: Int) {
      start = .allocate(capacity: count)
      start.initialize(repeating: Place(), count: count)
      mask = count - 1
    }

    deinit {
      for index in 0...mask { start[index].object?.release() }
      start.deallocate()
    }

    var count: Int { mask + 1 }

    @inline(__always) func index(of key: IdentityKey) -> Int? {
      var index = key.mixed & mask
      while start[index].object != nil {
        if start[index].has(key) { return index }
        index = (index + 1) & mask
      }
      return nil
    }

    /// Puts an object, already retained, into the first free slot.
    @inline(__always) func put(_ place: Place) {
      var index = place.key.mixed & mask
      while start[index].object != nil { index = (index + 1) & mask }
      start[index] = place
    }

    /// Whether the table holds the only reference to the object at an index.
    @inline(__always) func isOnlyHolder(at index: Int) -> Bool {
      UnsafeMutableRawPointer(start + index).advanced(by: MemoryLayout<Place>.offset(of: \.object)!)
        .withMemoryRebound(to: NSManagedObject.self, capacity: 1) { isKnownUniquelyReferenced(&$0.pointee) }
    }
  }

  private var _places = Places(16)
  private(set) var count = 0
  /// Number of objects registered under a temporary ID that had no permanent form when last checked.
  private var _temporaries = 0
  private var _links = LinkedIDs.Mark()
  private var _liveAfterSweep = 0

  // MARK: Looking up

  mutating func object(for id: NSManagedObjectID) -> NSManagedObject? {
    _index(of: id).flatMap { _places.start[$0].object?.takeUnretainedValue() }
  }

  private mutating func _index(of id: NSManagedObjectID) -> Int? {
    let key = IdentityKey(id)
    if _temporaries > 0 { _adoptLinks() }
    if let index = _places.index(of: key) { return index }
    guard id.isTemporary, id.isPermanent else { return nil }
    // Another thread may link the ID between these steps: a parent's save does so for an object that a child
    // still saves.
    return _places.index(of: IdentityKey(id)) ?? _places.index(of: IdentityKey.temporary(id))
  }

  mutating func object(for key: ObjectKey) -> NSManagedObject? { object(for: IdentityKey(key)) }

  @inline(__always) mutating func object(for key: IdentityKey) -> NSManagedObject? {
    if _temporaries > 0 { _adoptLinks() }
    guard let index = _places.index(of: key) else { return nil }
    return _places.start[index].object?.takeUnretainedValue()
  }

  // MARK: Changing

  /// Registers an object under its current ID, which must not be registered yet.
  mutating func insert(_ object: NSManagedObject) { _insert(object, as: IdentityKey(of: object)) }

  /// Registers an object under the key of its ID, which must not be registered yet.
  @inline(__always) mutating func insert(_ object: NSManagedObject, as key: IdentityKey) {
    // Another thread may have linked a temporary ID since the caller looked it up.
    _insert(object, as: key.isTemporary ? IdentityKey(of: object) : key)
  }

  @inline(__always) private mutating func _insert(_ object: NSManagedObject, as key: IdentityKey) {
    if (count + 1) * 4 > _places.count * 3 { _resize(to: _places.count * 2) }
    if key.isTemporary { _temporaries += 1 }
    _places.put(Place(reference: key.reference, space: key.space, object: Unmanaged.passRetained(object)))
    count += 1
  }

  /// Reserves capacity for `more` additional objects, so that registering them moves nothing.
  mutating func reserve(_ more: Int) {
    let wanted = count + more
    guard wanted * 4 > _places.count * 3 else { return }
    var size = _places.count
    while wanted * 4 > size * 3 { size *= 2 }
    _resize(to: size)
  }

  /// Unregisters an object.
  mutating func remove(_ object: NSManagedObject) {
    if let index = _index(of: object, key: IdentityKey(of: object)) {
      _removePlace(at: index)
    } else if let index = (0..<_places.count).first(where: {
      _places.start[$0].object?.toOpaque() == Self._address(object)
    }) {
      // Registered under the temporary ID that has become permanent since.
      _removePlace(at: index)
    }
  }

  private static func _address(_ object: NSManagedObject) -> UnsafeMutableRawPointer {
    Unmanaged.passUnretained(object).toOpaque()
  }

  private func _index(of object: NSManagedObject, key: IdentityKey) -> Int? {
    let address = Self._address(object)
    var index = key.mixed & _places.mask
    while let found = _places.start[index].object {
      if found.toOpaque() == address { return index }
      index = (index + 1) & _places.mask
    }
    return nil
  }

  /// An empty table of the same capacity, unless that is unusually large: emptied tables are usually
  /// refilled.
  var emptied: ObjectTable {
    var table = ObjectTable()
    table._places = Places(min(_places.count, 2048))
    return table
  }

  func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
    let places = _places
    for index in 0..<places.count {
      try places.start[index].object?._withUnsafeGuaranteedRef(body)
    }
  }

  // MARK: Temporary IDs that became permanent

  /// Rekeys objects whose temporary ID has been linked to a permanent one. Costs one atomic load as long as
  /// no ID was linked anywhere.
  private mutating func _adoptLinks() {
    guard _links.advance() else { return }
    let hasNews = (0..<_places.count).contains { index in
      guard let object = _places.start[index].object, _places.start[index].space == 0 else { return false }
      return object._withUnsafeGuaranteedRef { $0._objectID.permanent != nil }
    }
    if hasNews { _resize(to: _places.count, rekeying: true) }
  }

  // MARK: Releasing

  /// Returns the object of this ID, and whether the table holds the only reference.
  mutating func objectAndHold(for id: NSManagedObjectID) -> (object: NSManagedObject, isOnlyHolder: Bool)? {
    _index(of: id).flatMap(_objectAndHold)
  }

  /// Returns the object of this key, and whether the table holds the only reference.
  @inline(__always)
  mutating func objectAndHold(for key: IdentityKey) -> (object: NSManagedObject, isOnlyHolder: Bool)? {
    if _temporaries > 0 { _adoptLinks() }
    return _places.index(of: key).flatMap(_objectAndHold)
  }

  @inline(__always)
  private func _objectAndHold(at index: Int) -> (object: NSManagedObject, isOnlyHolder: Bool)? {
    // Must precede the next retain.
    let isOnlyHolder = _places.isOnlyHolder(at: index)
    return _places.start[index].object.map { ($0.takeUnretainedValue(), isOnlyHolder) }
  }

  /// Whether enough objects were registered since the last sweep to justify another.
  var isSweepDue: Bool { count > 2 * _liveAfterSweep + 512 }

  /// Removes every object that only the table references and that `isNeeded` does not claim. The caller
  /// releases the table's reference to each.
  mutating func removeUnheld(unless isNeeded: (NSManagedObject) -> Bool) -> [Unmanaged<NSManagedObject>] {
    defer { _liveAfterSweep = count }
    let places = _places
    var dead: [Unmanaged<NSManagedObject>] = []
    for index in 0..<places.count where places.start[index].object != nil && places.isOnlyHolder(at: index) {
      let object = places.start[index].object!
      if object._withUnsafeGuaranteedRef(isNeeded) { continue }
      if places.start[index].space == 0 { _temporaries -= 1 }
      dead.append(object)
      places.start[index].object = nil
    }
    guard !dead.isEmpty else { return [] }
    count -= dead.count
    var size = 16
    while count * 2 > size { size *= 2 }
    // Reinserting the remaining objects costs less than closing the gaps one by one.
    _resize(to: size * 4 <= places.count ? size : places.count)
    return dead
  }

  // MARK: Storage

  /// Moves all objects into storage of the given size.
  ///
  /// - Parameter isRekeying: Whether to look up again which temporary IDs have become permanent.
  private mutating func _resize(to size: Int, rekeying isRekeying: Bool = false) {
    let old = _places
    _places = Places(size)
    if isRekeying { _temporaries = 0 }
    for index in 0..<old.count {
      var place = old.start[index]
      guard let object = place.object else { continue }
      // The reference moves with the slot.
      old.start[index].object = nil
      if isRekeying, place.space == 0 {
        let key = object._withUnsafeGuaranteedRef { IdentityKey(of: $0) }
        (place.reference, place.space) = (key.reference, key.space)
        if key.isTemporary { _temporaries += 1 }
      }
      _places.put(place)
    }
  }

  /// Backward-shift deletion: no tombstones.
  private mutating func _removePlace(at start: Int) {
    let places = _places
    let mask = places.mask
    let object = places.start[start].object
    if places.start[start].space == 0 { _temporaries -= 1 }
    var hole = start
    var next = (start + 1) & mask
    while places.start[next].object != nil {
      let home = places.start[next].key.mixed & mask
      if ((next - home) & mask) >= ((next - hole) & mask) {
        places.start[hole] = places.start[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    places.start[hole] = Place()
    count -= 1
    object?.release()
  }
}
