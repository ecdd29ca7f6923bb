import Synchronization

// An object created from a row stores its key inline. Its ID, a separate allocation, is created lazily, since
// iterating over fetched objects rarely needs it.

extension IdentityKey {
  /// Creates the current key of an object.
  @inline(__always) init(of object: NSManagedObject) { self = object._identityKey }
}

extension IdentitySet {
  /// Inserts an object. Does not create an ID.
  ///
  /// - Returns: Whether the object is new to the set.
  mutating func insert(_ object: NSManagedObject) -> Bool {
    if let key = object._inlineKey { insert(key) } else { insert(object._objectID) }
  }
}

extension NSManagedObject {
  /// The bit of `_identity` that is set if the word points to the ID space of `_reference` instead of an ID.
  private static var _isKey: UInt { 1 }

  /// The ID, created on demand; nil until the object is registered or its ID is first read. Thread-safe to
  /// read.
  @inline(__always)
  final var _id: NSManagedObjectID? {
    get {
      let word = _identity.load(ordering: .acquiring)
      if word & Self._isKey != 0 { return _makeID(word) }
      guard let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
      return Unmanaged<NSManagedObjectID>.fromOpaque(pointer).takeUnretainedValue()
    }
    set {
      if let newValue, !newValue.isTemporary { _context?.issuedIDCount &+= 1 }
      let word = newValue.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
      Self._release(_identity.exchange(word, ordering: .acquiringAndReleasing))
    }
  }

  /// The key of the stored object, if any. Does not create an ID.
  @inline(__always)
  final var _key: ObjectKey? {
    let word = _identity.load(ordering: .acquiring)
    if word & Self._isKey != 0 {
      return ObjectKey(space: Self._space(word).takeUnretainedValue(), reference: _reference)
    }
    guard let pointer = UnsafeRawPointer(bitPattern: word) else { return nil }
    return Unmanaged<NSManagedObjectID>.fromOpaque(pointer)._withUnsafeGuaranteedRef { $0.key }
  }

  /// Whether the object's own ID is a permanent one. Does not create it.
  final var hasPermanentID: Bool {
    _identity.load(ordering: .acquiring) & Self._isKey != 0 || !_objectID.isTemporary
  }

  /// The key, if the object has no ID yet.
  fileprivate final var _inlineKey: ObjectKey? {
    let word = _identity.load(ordering: .acquiring)
    if word & Self._isKey == 0 { return nil }
    return ObjectKey(space: Self._space(word).takeUnretainedValue(), reference: _reference)
  }

  /// The current key. No reference counting, once the object is registered.
  @inline(__always) fileprivate final var _identityKey: IdentityKey {
    let word = _identity.load(ordering: .acquiring)
    if word & Self._isKey != 0 {
      return Self._space(word)._withUnsafeGuaranteedRef {
        IdentityKey(reference: _reference, space: $0.number)
      }
    }
    guard let pointer = UnsafeRawPointer(bitPattern: word) else { return IdentityKey(_objectID) }
    return Unmanaged<NSManagedObjectID>.fromOpaque(pointer)._withUnsafeGuaranteedRef { IdentityKey($0) }
  }

  /// Sets the key of a newly created object.
  @inline(__always)
  final func identify(as space: Unmanaged<ObjectIDSpace>, _ reference: Int64) {
    space._withUnsafeGuaranteedRef { precondition($0.number != 0, "only a stored object has a key") }
    _reference = reference
    _begin(UInt(bitPattern: space.retain().toOpaque()) | Self._isKey)
  }

  /// Sets the ID of a newly created object.
  @inline(__always)
  final func identify(as id: NSManagedObjectID) {
    _begin(UInt(bitPattern: Unmanaged.passRetained(id).toOpaque()))
  }

  @inline(__always)
  private final func _begin(_ word: UInt) {
    // A subclass's initializer may have read the ID, which created a temporary one.
    let early = _identity.load(ordering: .relaxed)
    _identity.store(word, ordering: .releasing)
    if early != 0 { Self._release(early) }
  }

  /// Replaces a temporary ID by the permanent one that it is linked to, if any.
  @inline(__always)
  final func adoptPermanentID() {
    let word = _identity.load(ordering: .acquiring)
    guard word & Self._isKey == 0, let pointer = UnsafeRawPointer(bitPattern: word) else { return }
    let permanent = Unmanaged<NSManagedObjectID>.fromOpaque(pointer)._withUnsafeGuaranteedRef {
      $0.isTemporary ? $0.permanent : nil
    }
    if let permanent { _id = permanent }
  }

  /// Releases the ID or the ID space. Called by `deinit`.
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
      // Another thread stored its ID first.
      counted.release()
      return _id ?? id
    }
    // The object now retains the ID, and the ID the space, so the space stays valid for a concurrent reader.
    space.release()
    return id
  }

  @inline(__always)
  private static func _release(_ word: UInt) {
    if word & _isKey != 0 { return _space(word).release() }
    guard let pointer = UnsafeRawPointer(bitPattern: word) else { return }
    Unmanaged<NSManagedObjectID>.fromOpaque(pointer).release()
  }
}

extension NSManagedObject {
  /// The parts of the object's permanent ID, if it has one. Does not create an ID.
  package final var identityParts: ObjectIDParts? {
    guard let key = _key else { return _id?.parts }
    guard let store = key.space.store else { return nil }
    return ObjectIDParts(
      store: store.identifier, entity: key.space.layout.entityName, number: key.reference,
      text: key.space.references?.pathText(of: key.reference)?.removingPercentEncoding)
  }

  /// Whether two objects have permanent IDs of the same store and entity, which differ only in the number or
  /// text.
  package final func sharesIDSpace(with other: NSManagedObject) -> Bool {
    guard let key = _key, let theirs = other._key else { return false }
    return key.space === theirs.space
  }

  /// The primary key in a store that generates keys; nil for other stores and for temporary IDs.
  package final var primaryKey: Int64? {
    guard let key = _key, key.space.references == nil else { return nil }
    return key.reference
  }
}
