import Foundation
import Synchronization

/// Registers the store kind of another module.
package protocol LinkedStoreKind {
  static func register()
}

/// The store kinds known to the process, by type.
package enum StoreKinds {
  /// The default kind.
  package static let standard: any StoreKind = SQLiteStoreKind()

  private static let _builtIn: [String: any StoreKind] = [
    standard.type: standard, NSInMemoryStoreType: MemoryStoreKind(),
  ]
  private static let _registered = Mutex<[String: any StoreKind]>([:])

  /// Registers the kind of another module; later registrations of the type replace it.
  package static func register(_ kind: any StoreKind) {
    _registered.withLock { $0[kind.type] = kind }
  }

  /// Removes a registered kind. Built-in kinds remain.
  package static func remove(_ type: String) {
    _ = _registered.withLock { $0.removeValue(forKey: type) }
  }

  package static func isBuiltIn(_ type: String) -> Bool { _builtIn[type] != nil }

  /// Returns the kind of a type; nil for an unknown type.
  package static func known(_ type: String) -> (any StoreKind)? {
    if let known = _builtIn[type] ?? _registered.withLock({ $0[type] }) { return known }
    guard let name = _linked[type], let linked = _typeByName(name) as? any LinkedStoreKind.Type else {
      return nil
    }
    linked.register()
    return _registered.withLock { $0[type] }
  }

  /// Types provided by other modules of this package, with the mangled names of their registrars, which exist
  /// if the program links the module: no code of a module runs before it is called.
  private static let _linked = ["PostgreSQL": "18CoreDataPostgreSQL10LinkedKindO"]

  /// Returns the kind of a type.
  ///
  /// - Throws: A Cocoa error with code 134000 for an unknown type.
  package static func kind(of type: String) throws -> any StoreKind {
    if let kind = known(type) { return kind }
    let types = all.map(\.type).sorted().map { "'\($0)'" }.joined(separator: ", ")
    throw CocoaError.coreData(
      NSPersistentStoreInvalidTypeError,
      "There is no store type '\(type)'. There are \(types); a custom class is made known with "
        + "registerStoreClass(_:forStoreType:).")
  }

  package static var all: [any StoreKind] {
    Array(_builtIn.values) + _registered.withLock { Array($0.values) }
  }
}
