/// A hashable identity: permanent IDs by store, root entity and key, temporary ones by number.
struct IdentityKey: Hashable {
  let reference: Int64
  /// `ObjectIDSpace.number`: store and root entity, or 0 for a temporary ID.
  let space: UInt64

  @inline(__always) init(reference: Int64, space: UInt64) {
    self.reference = reference
    self.space = space
  }

  init(_ key: ObjectKey) { self.init(reference: key.reference, space: key.space.number) }

  /// The current key of an ID: of its permanent form if it has one.
  @inline(__always) init(_ id: NSManagedObjectID) {
    let (reference, space) = id.identity
    self.init(reference: reference, space: space)
  }

  /// The key of an ID as it was made: the temporary one, even if it has become permanent.
  static func temporary(_ id: NSManagedObjectID) -> IdentityKey {
    IdentityKey(reference: id.reference, space: id.space.number)
  }

  var isTemporary: Bool { space == 0 }

  // The parts are well mixed; hashing them again would cost more than the look-up.
  func hash(into hasher: inout Hasher) { hasher.combine(mixed) }
  func _rawHashValue(seed: Int) -> Int { mixed ^ seed }

  var mixed: Int {
    var h = UInt64(bitPattern: reference) &* 0x9E37_79B9_7F4A_7C15
    h ^= space &* 0xD6E8_FEB8_6659_FD93
    return Int(truncatingIfNeeded: (h ^ (h >> 32)) & 0x7FFF_FFFF_FFFF_FFFF)
  }
}
