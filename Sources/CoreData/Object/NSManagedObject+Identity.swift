import Synchronization

// Identity of an object. One made from a row knows its key; the ID, a separate object, is made on demand,
// which hardly any object of a fetch that is only iterated needs.

extension IdentityKey {
  /// The key of an object as it is known now.
  @inline(__always) init(of object: NSManagedObject) {
    if let key = object._key { self.init(key) } else { self.init(object._objectID) }
  }
}

extension NSManagedObject {
  /// Set in `_identity` where it points to the space of `_reference`, and not to an ID.
  private static var _isKey: UInt { 1 }

  /// The ID, made if need be; nil until the object is registered or asked for its ID. May be read on any
  /// thread.
  final var _id: NSManagedObjectID? {
    get {
      let word = _identity.load(ordering: .acquiring)
      if word & Self._isKey != 0 { return _makeID(word) }
      guard let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
      return Unmanaged<NSManagedObjectID>.fromOpaque(pointer).takeUnretainedValue()
    }
    set {
      let word = newValue.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
      Self._release(_identity.exchange(word, ordering: .acquiringAndReleasing))
    }
  }

  /// Key of the stored object; nil while there is none. Makes no ID.
  final var _key: ObjectKey? {
    let word = _identity.load(ordering: .acquiring)
    if word & Self._isKey != 0 {
      return ObjectKey(space: Self._space(word).takeUnretainedValue(), reference: _reference)
    }
    guard let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
    return Unmanaged<NSManagedObjectID>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.key }
  }

  /// Says which stored object this is; only for one that was just made.
  @inline(__always)
  final func identify(as key: ObjectKey) {
    precondition(key.space.store != nil)
    _reference = key.reference
    let space = Unmanaged.passRetained(key.space)
    _begin(UInt(bitPattern: space.toOpaque()) | Self._isKey)
  }

  /// Gives an object that was just made its ID.
  @inline(__always)
  final func identify(as id: NSManagedObjectID) {
    _begin(UInt(bitPattern: Unmanaged.passRetained(id).toOpaque()))
  }

  @inline(__always)
  private final func _begin(_ word: UInt) {
    // An initialiser of the program's own may have asked for the ID already, and has got a temporary one.
    let early = _identity.load(ordering: .relaxed)
    _identity.store(word, ordering: .releasing)
    if early != 0 { Self._release(early) }
  }

  /// Gives up what the identity holds; the object is going.
  @inline(__always)
  final func releaseIdentity() { Self._release(_identity.load(ordering: .acquiring)) }

  @inline(__always)
  private static func _space(_ word: UInt) -> Unmanaged<ObjectIDSpace> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word & ~_isKey).unsafelyUnwrapped)
  }

  private final func _makeID(_ word: UInt) -> NSManagedObjectID {
    let space = Self._space(word)
    let id = NSManagedObjectID(ObjectKey(space: space.takeUnretainedValue(), reference: _reference))
    let counted = Unmanaged.passRetained(id)
    let (isFirst, _) = _identity.compareExchange(
      expected: word, desired: UInt(bitPattern: counted.toOpaque()), ordering: .acquiringAndReleasing)
    guard isFirst else {
      // Another thread was faster.
      counted.release()
      return _id ?? id
    }
    // The ID holds the space from here on, and the object the ID: a thread that is reading the space now may
    // go on.
    space.release()
    return id
  }

  private static func _release(_ word: UInt) {
    if word & _isKey != 0 { return _space(word).release() }
    guard let pointer = UnsafeRawPointer(bitPattern: word) else { return }
    Unmanaged<NSManagedObjectID>.fromOpaque(pointer).release()
  }
}

extension NSManagedObject {
  /// The parts of the object's permanent ID; nil as long as it has none. Makes no ID.
  package final var identityParts: ObjectIDParts? {
    guard let key = _key else { return _id?.parts }
    guard let store = key.space.store else { return nil }
    return ObjectIDParts(
      store: store.identifier, entity: key.space.layout.entityName, number: key.reference,
      text: key.space.references?.pathText(of: key.reference)?.removingPercentEncoding)
  }

  /// Whether two objects have permanent IDs of one store and entity, so that their parts differ in the number or text only.
  package final func sharesIDSpace(with other: NSManagedObject) -> Bool {
    guard let key = _key, let theirs = other._key else { return false }
    return key.space === theirs.space
  }

  /// The primary key in a store that gives keys itself; nil otherwise, and while the object has no permanent ID.
  package final var primaryKey: Int64? {
    guard let key = _key, key.space.references == nil else { return nil }
    return key.reference
  }
}
