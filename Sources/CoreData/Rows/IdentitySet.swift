// Objects by identity, while their temporary IDs become permanent.
//
// A key that was taken from a temporary ID before it was linked differs from one taken afterwards. Collections that live
// longer than one look-up therefore know an object by both.

extension NSManagedObjectID {
  /// Whether both IDs mean the same object, even if another thread links one of them meanwhile.
  @inline(__always)
  final func isSameObject(as other: NSManagedObjectID) -> Bool {
    if self === other { return true }
    let key = IdentityKey(other)
    return IdentityKey(self) == key || IdentityKey.temporary(self) == IdentityKey.temporary(other)
  }
}

/// A set of objects, by any of their IDs.
struct IdentitySet {
  private var _keys: Set<IdentityKey> = []

  init() {}

  init(_ ids: some Sequence<NSManagedObjectID>) {
    _keys.reserveCapacity(ids.underestimatedCount)
    for id in ids { insert(id) }
  }

  var isEmpty: Bool { _keys.isEmpty }

  /// - Returns: Whether the object is new to the set.
  @discardableResult
  mutating func insert(_ id: NSManagedObjectID) -> Bool {
    let isNew = _keys.insert(.temporary(id)).inserted
    if !id.isTemporary { return isNew }
    let current = IdentityKey(id)
    return current.isTemporary ? isNew : _keys.insert(current).inserted && isNew
  }

  mutating func insert(_ key: ObjectKey) -> Bool { _keys.insert(IdentityKey(key)).inserted }

  /// - Returns: Whether the set had the object.
  @discardableResult
  mutating func remove(_ id: NSManagedObjectID) -> Bool {
    let had = _keys.remove(.temporary(id)) != nil
    if !id.isTemporary { return had }
    let current = IdentityKey(id)
    return current.isTemporary ? had : _keys.remove(current) != nil || had
  }

  func contains(_ id: NSManagedObjectID) -> Bool {
    if _keys.isEmpty { return false }
    if _keys.contains(.temporary(id)) { return true }
    return id.isTemporary && _keys.contains(IdentityKey(id))
  }

  func contains(_ key: ObjectKey) -> Bool { _keys.contains(IdentityKey(key)) }
}
