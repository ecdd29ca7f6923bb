import Foundation

/// Names of the classes in the program by module.
enum ClassDirectory {
  /// Modules that define a top-level class of this name, in alphabetical order.
  static func modules(defining name: String) -> [String] { [] }
}
