import CoreDataCSwiftRuntime

/// A reference that neither keeps its object alive nor makes its retains slower, for modules of this package.
///
/// The holder clears it before the object's memory goes, on the thread that uses the object.
package struct UnretainedReference<Object: AnyObject> {
  private var _address: UnsafeMutableRawPointer?

  /// A reference to nothing.
  package init() {}

  /// A reference to an object.
  package init(_ object: Object) { _address = Unmanaged.passUnretained(object).toOpaque() }

  /// Whether it refers to an object, which may be on its way out.
  package var isSet: Bool { _address != nil }

  /// The object, or nil once it is being deallocated.
  package var object: Object? {
    guard let _address, let retained = swift_tryRetain(_address) else { return nil }
    // Retained just now; ownership passes to the result.
    return Unmanaged<Object>.fromOpaque(retained).takeRetainedValue()
  }
}
