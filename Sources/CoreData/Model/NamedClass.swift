import Foundation

/// Makes instances of classes that models and mappings only name.
enum NamedClass {
  /// Of no class in particular: through it the initialiser, which no subclass had to call `required`, is
  /// reached at its place in the class's table. `ObjectMaker` tells why that works.
  private class Lens: NSObject {
    required override init() { fatalError("the lens is only looked through") }
  }

  /// Overrides the initialiser, so that the compiler does not take `Lens` for final and call it directly.
  private final class OtherLens: Lens {
    required init() { super.init() }
  }

  /// An instance, made by `init()`, of the class of this name, which may lack its module; nil if the program
  /// has none, or it is no subclass of `type`.
  static func instance<Object: NSObject>(of name: String, as type: Object.Type) -> Object? {
    for candidate in EntityClass.candidates(name) {
      guard let found = NSClassFromString(candidate) as? Object.Type else { continue }
      let lens = unsafeBitCast(found as AnyClass, to: Lens.Type.self)
      return unsafeBitCast(lens.init() as AnyObject, to: Object.self)
    }
    return nil
  }
}
