import CoreDataCSwiftRuntime

/// A reference that neither retains its object nor slows down its retains, for modules of this package.
///
/// The holder clears it before the object's memory is freed, on the thread that uses the object.
package struct UnretainedReference<Object: AnyObject> {
  private var _address: UnsafeMutableRawPointer?

  /// Creates a nil reference.
  package init() {}

  /// Creates a reference to an object.
  package init(_ object: Object) { _address = Unmanaged.passUnretained(object).toOpaque() }

  /// Whether it refers to an object, which may be in deallocation.
  package var isSet: Bool { _address != nil }

  /// The object, or nil once it is being deallocated.
  package var object: Object? {
    guard let _address, let retained = swift_tryRetain(_address) else { return nil }
    // Retained above; ownership passes to the result.
    return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
  }
}
