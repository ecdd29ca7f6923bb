/// Identity as hashed: permanent IDs by store, root entity and key, temporary ones by number.
struct IdentityKey: Hashable {
  let reference: Int64
  /// `ObjectIDSpace.number`: store and root entity, or 0 for a temporary ID.
  let space: UInt64

  @inline(__always) init(reference: Int64, space: UInt64) {
    self.reference = reference
    self.space = space
  }

  init(_ key: ObjectKey) { self.init(reference: key.reference, space: key.space.number) }

  /// The key of an ID as it is known now: of its permanent form if it has one.
  @inline(__always) init(_ id: NSManagedObjectID) {
    let (reference, space) = id.identity
    self.init(reference: reference, space: space)
  }

  /// The key of an ID that is or was temporary, whatever has become of it.
  static func temporary(_ id: NSManagedObjectID) -> IdentityKey {
    IdentityKey(reference: id.reference, space: id.space.number)
  }

  var isTemporary: Bool { space == 0 }

  // The parts are well mixed already; hashing them again would cost more than looking the key up.
  func hash(into hasher: inout Hasher) { hasher.combine(mixed) }
  func _rawHashValue(seed: Int) -> Int { mixed ^ seed }

  var mixed: Int {
    var h = UInt64(bitPattern: reference) &* 0x9E37_79B9_7F4A_7C15
    h ^= space &* 0xD6E8_FEB8_6659_FD93
    return Int(truncatingIfNeeded: (h ^ (h >> 32)) & 0x7FFF_FFFF_FFFF_FFFF)
  }
}
