import CoreDataCSwiftRuntime

/// A reference that does not retain its object, and whose holder may outlive it, for modules of this package.
///
/// Cheaper than a weak reference, which allocates. The object's memory, without the objects it refers to,
/// stays allocated until the holder refers to another object or calls `release()`. Used on the thread that
/// uses the object. Not generic, because other modules would look up its metadata at run time.
package struct UnownedReference {
  private var _address: UnsafeMutableRawPointer?

  /// Creates a nil reference.
  package init() {}

  /// Whether it refers to an object, which may be deallocated.
  package var isSet: Bool { _address != nil }

  /// The object, or nil once it is being deallocated.
  package var object: AnyObject? {
    guard let _address, let retained = swift_tryRetain(_address) else { return nil }
    // Retained above; ownership passes to the result.
    return Unmanaged<AnyObject>.fromOpaque(retained).takeRetainedValue()
  }

  /// Refers to another object.
  package mutating func set(_ object: AnyObject) {
    let address = Unmanaged.passUnretained(object).toOpaque()
    _ = swift_unownedRetain(address)
    release()
    _address = address
  }

  /// Refers to no object, so that its memory can be freed.
  package mutating func release() {
    guard let old = _address else { return }
    _address = nil
    swift_unownedRelease(old)
  }
}
