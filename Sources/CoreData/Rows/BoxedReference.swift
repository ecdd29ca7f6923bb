/// The object in a box without the dynamic cast, which costs a walk through the type's conformances: sets of
/// objects and IDs compare their members through `isEqual(_: Any?)` whenever two share a bucket.
///
/// Rests on Swift's stable ABI: a box of static type `Any` that holds a class's object begins with the
/// reference.
enum BoxedReference {
  /// The object if it is of this very class, which must be final.
  @inline(__always)
  static func exactly<Class: AnyObject>(_ box: Any, _ type: Class.Type) -> Class? {
    guard Swift.type(of: box) == type else { return nil }
    return withUnsafePointer(to: box) {
      UnsafeRawPointer($0).load(as: Unmanaged<Class>.self).takeUnretainedValue()
    }
  }

  /// Whether the box may hold this object. If not, it holds something else for sure.
  @inline(__always)
  static func mayHold(_ box: Any, _ object: AnyObject) -> Bool {
    withUnsafePointer(to: box) {
      UnsafeRawPointer($0).load(as: UnsafeRawPointer?.self)
        == UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }
  }
}
