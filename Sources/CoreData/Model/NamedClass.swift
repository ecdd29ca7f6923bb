import Foundation

/// Creates instances of classes by their names in models and mappings.
enum NamedClass {
  /// A class of the same shape, through which an initializer that is not `required` in subclasses is called
  /// by its index in the class's method table; see `ObjectMaker`.
  private class VTableShape: NSObject {
    required override init() { fatalError("this class is only looked through") }
  }

  /// Overrides the initializer, so that the compiler does not infer that `VTableShape` is final and call it
  /// directly.
  private final class OverridingVTableShape: VTableShape {
    required init() { super.init() }
  }

  /// Creates an instance with `init()` of the named class, whose module may be omitted; nil if the program
  /// has no such class, or it is not a subclass of `type`.
  static func instance<Object: NSObject>(of name: String, as type: Object.Type) -> Object? {
    for candidate in EntityClass.candidates(name) {
      guard let found = NSClassFromString(candidate) as? Object.Type else { continue }
      let shaped = unsafeBitCast(found as AnyClass, to: VTableShape.Type.self)
      return unsafeBitCast(shaped.init() as AnyObject, to: Object.self)
    }
    return nil
  }
}
