/// The registry of a context: its managed objects by identity. Open addressing, linear probing.
///
/// Objects are held strongly and let go by `sweep`, which drops those that nobody else holds. So looking up and creating an
/// object costs no weak reference, and what is observable stays what Core Data documents: an object that is clean and
/// unreferenced is no longer registered when one looks (`registeredObjects` and every look-up that could tell sweep first).
struct ObjectTable {
  /// Identity as hashed: permanent IDs by store, root entity and key, temporary ones by number.
  struct Key: Hashable {
    let reference: Int64
    /// Address of the StoreKey, or 0 for a temporary ID.
    let store: UInt
    let root: Int

    init(_ key: ObjectKey) {
      reference = key.reference
      store = UInt(bitPattern: Unmanaged.passUnretained(key.space.store!).toOpaque())
      root = key.space.layout.rootNumber
    }

    /// The key of an ID as it is known now: of its permanent form if it has one.
    init(_ id: NSManagedObjectID) {
      let id = id.canonical
      reference = id.reference
      store = id.space.store.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
      root = store == 0 ? 0 : id.space.layout.rootNumber
    }

    // The parts are well mixed already; hashing them again would cost more than looking the key up.
    func hash(into hasher: inout Hasher) { hasher.combine(mixed) }
    func _rawHashValue(seed: Int) -> Int { mixed ^ seed }

    var mixed: Int {
      var h = UInt64(bitPattern: reference) &* 0x9E37_79B9_7F4A_7C15
      h ^= UInt64(truncatingIfNeeded: store) &* 0xD6E8_FEB8_6659_FD93
      h ^= UInt64(truncatingIfNeeded: root) &* 0xA24B_AED4_963E_E407
      return Int(truncatingIfNeeded: (h ^ (h >> 32)) & 0x7FFF_FFFF_FFFF_FFFF)
    }
  }

  private struct Entry {
    var key: Key
    var object: NSManagedObject
  }

  private var _entries: [Entry?] = Array(repeating: nil, count: 16)
  private(set) var count = 0
  /// Objects registered under a temporary ID that had no permanent form when last looked at.
  private var _temporaries = 0
  private var _linkEpoch = 0
  private var _liveAfterSweep = 0

  private var _mask: Int { _entries.count - 1 }

  // MARK: Looking up

  mutating func object(for id: NSManagedObjectID) -> NSManagedObject? {
    _adoptLinks()
    return _find(Key(id))
  }

  mutating func object(for key: ObjectKey) -> NSManagedObject? {
    _adoptLinks()
    return _find(Key(key))
  }

  private func _find(_ key: Key) -> NSManagedObject? {
    var index = key.mixed & _mask
    while let entry = _entries[index] {
      if entry.key == key { return entry.object }
      index = (index + 1) & _mask
    }
    return nil
  }

  // MARK: Changing

  /// Registers an object under its ID as known now. The ID must not be registered yet.
  mutating func insert(_ object: NSManagedObject) {
    if (count + 1) * 4 > _entries.count * 3 { _grow() }
    let key = Key(object._objectID)
    if key.store == 0 { _temporaries += 1 }
    _place(Entry(key: key, object: object))
    count += 1
  }

  /// Forgets an object.
  mutating func remove(_ object: NSManagedObject) {
    if let index = _index(of: object, key: Key(object._objectID)) {
      _removeEntry(at: index)
    } else if let index = _entries.firstIndex(where: { $0?.object === object }) {
      // Registered under the temporary ID that has become permanent since.
      _removeEntry(at: index)
    }
  }

  private func _index(of object: NSManagedObject, key: Key) -> Int? {
    var index = key.mixed & _mask
    while let entry = _entries[index] {
      if entry.object === object { return index }
      index = (index + 1) & _mask
    }
    return nil
  }

  /// Empties the table.
  mutating func removeAll() {
    _entries = Array(repeating: nil, count: 16)
    count = 0
    _temporaries = 0
    _liveAfterSweep = 0
  }

  func forEach(_ body: (NSManagedObject) throws -> Void) rethrows {
    for entry in _entries {
      if let entry { try body(entry.object) }
    }
  }

  // MARK: Temporary IDs that became permanent

  /// Files objects whose temporary ID has been linked to a permanent one under the latter. Costs one atomic load as long as
  /// nothing was linked anywhere.
  private mutating func _adoptLinks() {
    guard _temporaries > 0 else { return }
    let epoch = NSManagedObjectID.linkEpoch.load(ordering: .acquiring)
    guard epoch != _linkEpoch else { return }
    _linkEpoch = epoch
    guard _entries.contains(where: { $0?.key.store == 0 && $0?.object._objectID.permanent != nil }) else { return }
    _rebuild(without: [])
  }

  // MARK: Letting go

  /// The object of this ID if anybody else holds it or `isNeeded` claims it; else it is dropped now.
  mutating func objectInUse(
    for id: NSManagedObjectID, isNeeded: (NSManagedObject) -> Bool
  ) -> NSManagedObject? {
    _adoptLinks()
    let key = Key(id)
    var index = key.mixed & _mask
    while let candidate = _entries[index]?.key {
      if candidate == key {
        if isKnownUniquelyReferenced(&_entries[index]!.object), !isNeeded(_entries[index]!.object) {
          let object = _entries[index]!.object
          _removeEntry(at: index)
          object._context = nil
          return nil
        }
        return _entries[index]!.object
      }
      index = (index + 1) & _mask
    }
    return nil
  }

  /// Whether enough has been registered since the last sweep to make another worth its cost.
  var isSweepDue: Bool { count > 2 * _liveAfterSweep + 512 }

  /// Drops every object that only the table holds and that `isNeeded` does not claim; hands each to `dropped`.
  mutating func sweep(
    isNeeded: (NSManagedObject) -> Bool, dropped: (NSManagedObject) -> Void
  ) {
    var dead: [Entry] = []
    repeat {
      dead.removeAll(keepingCapacity: true)
      for index in _entries.indices {
        guard _entries[index] != nil else { continue }
        if isKnownUniquelyReferenced(&_entries[index]!.object), !isNeeded(_entries[index]!.object) {
          dead.append(_entries[index]!)
        }
      }
      if dead.count * 4 > count {
        _rebuild(without: Set(dead.map { ObjectIdentifier($0.object) }))
      } else {
        for entry in dead {
          if let index = _index(of: entry.object, key: entry.key) { _removeEntry(at: index) }
        }
      }
      for entry in dead { dropped(entry.object) }
      // What the dropped ones held may be free now.
    } while !dead.isEmpty && count > 0
    _liveAfterSweep = count
  }

  // MARK: Storage

  private mutating func _place(_ entry: Entry) {
    var index = entry.key.mixed & _mask
    while _entries[index] != nil { index = (index + 1) & _mask }
    _entries[index] = entry
  }

  private mutating func _grow() {
    let old = _entries
    _entries = Array(repeating: nil, count: old.count * 2)
    for entry in old {
      if let entry { _place(entry) }
    }
  }

  private mutating func _rebuild(without dead: Set<ObjectIdentifier>) {
    let old = _entries
    var size = 16
    while (count - dead.count) * 2 > size { size *= 2 }
    _entries = Array(repeating: nil, count: size)
    count = 0
    _temporaries = 0
    for entry in old {
      guard var entry, dead.isEmpty || !dead.contains(ObjectIdentifier(entry.object)) else { continue }
      if entry.key.store == 0 { entry.key = Key(entry.object._objectID) }
      _place(entry)
      count += 1
      if entry.key.store == 0 { _temporaries += 1 }
    }
  }

  /// Backward-shift deletion: no tombstones.
  private mutating func _removeEntry(at start: Int) {
    if _entries[start]!.key.store == 0 { _temporaries -= 1 }
    var hole = start
    var next = (start + 1) & _mask
    while let entry = _entries[next] {
      let home = entry.key.mixed & _mask
      if ((next - home) & _mask) >= ((next - hole) & _mask) {
        _entries[hole] = entry
        hole = next
      }
      next = (next + 1) & _mask
    }
    _entries[hole] = nil
    count -= 1
  }
}
