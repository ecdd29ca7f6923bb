/// Keys of stored rows of one entity, in ascending order: 8 bytes a row.
package struct KeyRun: Sendable {
  package let space: ObjectIDSpace
  package private(set) var keys: [Int64]

  package init(_ space: ObjectIDSpace, _ keys: consuming [Int64]) {
    self.space = space
    self.keys = keys
    // Nearly always read in this order.
    if zip(self.keys, self.keys.dropFirst()).contains(where: { $0 > $1 }) { self.keys.sort() }
  }

  /// Names of the entity and the store that the keys belong to.
  package var identityParts: (entity: String, store: String?) {
    (space.layout.entityName, space.store?.identifier)
  }

  func contains(_ key: IdentityKey) -> Bool {
    guard key.space == space.number else { return false }
    let place = _place(of: key.reference)
    return place < keys.count && keys[place] == key.reference
  }

  /// Removes a key that the run contains.
  mutating func remove(_ key: IdentityKey) { keys.remove(at: _place(of: key.reference)) }

  private func _place(of reference: Int64) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < reference { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension [KeyRun] {
  func contains(_ key: ObjectKey) -> Bool { contains(IdentityKey(key)) }

  func contains(_ key: IdentityKey) -> Bool { contains { $0.contains(key) } }
}
