/// Unboxes an object without a dynamic cast, which walks the type's conformances: sets of objects and IDs
/// compare their members through `isEqual(_: Any?)` whenever two share a bucket.
///
/// Relies on Swift's stable ABI: an existential of static type `Any` that holds a class instance starts with
/// the reference.
enum BoxedReference {
  /// Returns the object if its class is exactly this one, which must be final.
  @inline(__always)
  static func exactly<Class: AnyObject>(_ box: Any, _ type: Class.Type) -> Class? {
    guard Swift.type(of: box) == type else { return nil }
    return withUnsafePointer(to: box) {
      UnsafeRawPointer($0).load(as: Unmanaged<Class>.self).takeUnretainedValue()
    }
  }

  /// Whether the box may hold this object; if false, it certainly holds something else.
  @inline(__always)
  static func mayHold(_ box: Any, _ object: AnyObject) -> Bool {
    withUnsafePointer(to: box) {
      UnsafeRawPointer($0).load(as: UnsafeRawPointer?.self)
        == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
  }
}
