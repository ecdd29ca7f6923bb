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

  /// The objects under keys of one kind.
  private struct Half {
    private(set) var places: Places
    private(set) var count = 0

    init(_ size: Int) { places = Places(size) }

    /// Returns the index of an object under a key.
    func index(of object: NSManagedObject, key: IdentityKey) -> Int? {
      let address = Unmanaged.passUnretained(object).toOpaque()
      var index = key.mixed & places.mask
      while let found = places.start[index].object {
        if found.toOpaque() == address { return index }
        index = (index + 1) & places.mask
      }
      return nil
    }

    @inline(__always) func object(for key: IdentityKey) -> NSManagedObject? {
      guard let index = places.index(of: key) else { return nil }
      return places.start[index].object?.takeUnretainedValue()
    }

    @inline(__always)
    func objectAndHold(for key: IdentityKey) -> (object: NSManagedObject, isOnlyHolder: Bool)? {
      guard let index = places.index(of: key) else { return nil }
      // Must precede the next retain.
      let isOnlyHolder = places.isOnlyHolder(at: index)
      return places.start[index].object.map { ($0.takeUnretainedValue(), isOnlyHolder) }
    }

    /// Puts an object, already retained, under a key.
    @inline(__always) mutating func put(_ object: Unmanaged<NSManagedObject>, as key: IdentityKey) {
      if (count + 1) * 4 > places.count * 3 { _resize(to: places.count * 2) }
      places.put(Place(reference: key.reference, space: key.space, object: object))
      count += 1
    }

    mutating func reserve(_ more: Int) {
      let wanted = count + more
      guard wanted * 4 > places.count * 3 else { return }
      var size = places.count
      while wanted * 4 > size * 3 { size *= 2 }
      _resize(to: size)
    }

    func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
      let places = places
      for index in 0..<places.count {
        try places.start[index].object?._withUnsafeGuaranteedRef(body)
      }
    }

    /// Takes an object out by backward-shift deletion: no tombstones.
    ///
    /// - Returns: The object, with the table's reference.
    mutating func take(at start: Int) -> Unmanaged<NSManagedObject>? {
      let places = places
      let mask = places.mask
      let object = places.start[start].object
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
      return object
    }

    /// Takes out all objects that satisfy a predicate, with the table's references.
    mutating func takeAll(
      where isWanted: (NSManagedObject) -> Bool, onlyIfUnheld isUnheld: Bool = false
    ) -> [Unmanaged<NSManagedObject>] {
      let places = places
      var taken: [Unmanaged<NSManagedObject>] = []
      for index in 0..<places.count {
        // Whether it is held must be known before another reference is made.
        guard let object = places.start[index].object, !isUnheld || places.isOnlyHolder(at: index),
          object._withUnsafeGuaranteedRef(isWanted)
        else { continue }
        taken.append(object)
        places.start[index].object = nil
      }
      count -= taken.count
      var size = 16
      while count * 8 > size * 5 { size *= 2 }
      // A small table that was needed will be needed again.
      let isLarge = places.count > 4096
      let isTooLarge = places.count > 1024 && size * (isLarge ? 2 : 4) <= places.count
      // Reinserting the remaining objects costs less than closing the gaps one by one.
      if count > 0 && !taken.isEmpty || isTooLarge && (isUnheld || !taken.isEmpty) {
        _resize(to: isTooLarge ? size : places.count)
      }
      return taken
    }

    /// Moves all objects into storage of the given size.
    private mutating func _resize(to size: Int) {
      let old = places
      places = Places(size)
      for index in 0..<old.count {
        let place = old.start[index]
        guard place.object != nil else { continue }
        // The reference moves with the slot.
        old.start[index].object = nil
        places.put(place)
      }
    }
  }

  /// Objects under permanent IDs.
  private var _stored = Half(16)
  /// Objects under temporary IDs that had no permanent form when last checked.
  private var _unsaved = Half(4)
  private var _links = LinkedIDs.Mark()
  private var _liveAfterSweep = 0

  var count: Int { _stored.count + _unsaved.count }

  // MARK: Looking up

  mutating func object(for id: NSManagedObjectID) -> NSManagedObject? {
    let key = IdentityKey(id)
    if let object = object(for: key) { return object }
    guard id.isTemporary, id.isPermanent else { return nil }
    // Another thread may link the ID between these steps: a parent's save does so for an object that a child
    // still saves.
    return _object(under: IdentityKey(id)) ?? _object(under: .temporary(id))
  }

  mutating func object(for key: ObjectKey) -> NSManagedObject? { object(for: IdentityKey(key)) }

  @inline(__always) mutating func object(for key: IdentityKey) -> NSManagedObject? {
    if _unsaved.count > 0 { _adoptLinks() }
    return _object(under: key)
  }

  @inline(__always) private func _object(under key: IdentityKey) -> NSManagedObject? {
    key.isTemporary ? _unsaved.object(for: key) : _stored.object(for: key)
  }

  func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
    try _stored.forEach(body)
    if _unsaved.count > 0 { try _unsaved.forEach(body) }
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
    let held = Unmanaged.passRetained(object)
    if key.isTemporary { _unsaved.put(held, as: key) } else { _stored.put(held, as: key) }
  }

  /// Reserves capacity for `more` additional stored objects, so that registering them moves nothing.
  mutating func reserve(_ more: Int) { _stored.reserve(more) }

  /// Reserves capacity for additional objects with temporary IDs.
  mutating func reserve(unsaved more: Int) { _unsaved.reserve(more) }

  /// Unregisters an object.
  mutating func remove(_ object: NSManagedObject) {
    if _unsaved.count > 0 { _adoptLinks() }
    let key = IdentityKey(of: object)
    if !key.isTemporary, let index = _stored.index(of: object, key: key) {
      _stored.take(at: index)?.release()
    } else if let index = _unsaved.index(of: object, key: .temporary(object._objectID)) {
      _unsaved.take(at: index)?.release()
    }
  }

  /// Moves objects whose temporary IDs the table's context has just linked to permanent ones.
  mutating func move(_ linked: [NSManagedObject]) {
    var count = 0
    for object in linked {
      let id = object._objectID
      guard id.isPermanent, let index = _unsaved.index(of: object, key: .temporary(id)),
        let held = _unsaved.take(at: index)
      else { continue }
      _stored.put(held, as: IdentityKey(id))
      count += 1
    }
    _links.skip(count)
  }

  /// Follows the link of one object's temporary ID, which the caller has just made. Otherwise the next look-up
  /// would look at all unsaved objects.
  mutating func follow(linkOf object: NSManagedObject) {
    let id = object._objectID
    if let index = _unsaved.index(of: object, key: .temporary(id)), let held = _unsaved.take(at: index) {
      _stored.put(held, as: IdentityKey(id))
    }
    _links.skip(1)
  }

  /// An empty table of the same capacity, unless that is unusually large: emptied tables are usually
  /// refilled.
  var emptied: ObjectTable {
    var table = ObjectTable()
    table._stored = Half(min(_stored.places.count, 2048))
    return table
  }

  // MARK: Temporary IDs that became permanent

  /// Moves objects whose temporary ID has been linked to a permanent one. Costs one atomic load as long as
  /// no ID was linked anywhere.
  private mutating func _adoptLinks() {
    guard _links.advance() else { return }
    let linked = _unsaved.takeAll { $0._objectID.permanent != nil }
    if linked.isEmpty { return }
    _stored.reserve(linked.count)
    for object in linked { _stored.put(object, as: object._withUnsafeGuaranteedRef { IdentityKey(of: $0) }) }
  }

  /// What contradicts itself in the table, for tests.
  var inconsistencies: [String] {
    mutating get {
      var objects: [NSManagedObject] = []
      forEach { objects.append($0) }
      var found: [String] = []
      if objects.count != count { found.append("\(count) objects are counted, \(objects.count) registered") }
      // An ID that another thread links meanwhile is followed by the look-up.
      for object in objects where self.object(for: object._objectID) !== object {
        found.append("\(object._objectID) is not found by its ID")
      }
      return found
    }
  }

  // MARK: Releasing

  /// Returns the object of this ID, and whether the table holds the only reference.
  mutating func objectAndHold(for id: NSManagedObjectID) -> (object: NSManagedObject, isOnlyHolder: Bool)? {
    let key = IdentityKey(id)
    if let found = objectAndHold(for: key) { return found }
    guard id.isTemporary, id.isPermanent else { return nil }
    return _objectAndHold(under: IdentityKey(id)) ?? _objectAndHold(under: .temporary(id))
  }

  /// Returns the object of this key, and whether the table holds the only reference.
  @inline(__always)
  mutating func objectAndHold(for key: IdentityKey) -> (object: NSManagedObject, isOnlyHolder: Bool)? {
    if _unsaved.count > 0 { _adoptLinks() }
    return _objectAndHold(under: key)
  }

  @inline(__always)
  private func _objectAndHold(under key: IdentityKey) -> (object: NSManagedObject, isOnlyHolder: Bool)? {
    key.isTemporary ? _unsaved.objectAndHold(for: key) : _stored.objectAndHold(for: key)
  }

  /// Whether enough objects were registered since the last sweep to justify another.
  var isSweepDue: Bool { count > 2 * _liveAfterSweep + 512 }

  /// Removes every object that only the table references and that `isNeeded` does not claim. The caller
  /// releases the table's reference to each.
  mutating func removeUnheld(unless isNeeded: (NSManagedObject) -> Bool) -> [Unmanaged<NSManagedObject>] {
    defer { _liveAfterSweep = count }
    let dead = _stored.takeAll(where: { !isNeeded($0) }, onlyIfUnheld: true)
    if _unsaved.count == 0 { return dead }
    return dead + _unsaved.takeAll(where: { !isNeeded($0) }, onlyIfUnheld: true)
  }
}
