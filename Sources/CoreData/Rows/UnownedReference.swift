import CoreDataCSwiftRuntime

/// A reference that does not retain its object, and whose holder may outlive it, for modules of this package.
///
/// Cheaper than a weak reference, which allocates. The object's memory, without what it refers to, stays allocated
/// until the holder sets another object or calls `release()`. Used on the thread that uses the object.
package struct UnownedReference<Object: AnyObject> {
  private var _address: UnsafeMutableRawPointer?

  /// Creates a nil reference.
  package init() {}

  /// Whether it refers to an object, which may be deallocated.
  package var isSet: Bool { _address != nil }

  /// The object, or nil once it is being deallocated.
  @inline(__always) package var object: Object? {
    guard let _address, let retained = swift_tryRetain(_address) else { return nil }
    // Retained above; ownership passes to the result.
    return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
  }

  /// Refers to another object, or to none.
  package mutating func set(_ object: Object?) {
    let old = _address
    _address = object.map { Unmanaged.passUnretained($0).toOpaque() }
    if let _address { _ = swift_unownedRetain(_address) }
    if let old { swift_unownedRelease(old) }
  }

  /// Lets the object's memory be freed.
  package mutating func release() { set(nil) }
}
