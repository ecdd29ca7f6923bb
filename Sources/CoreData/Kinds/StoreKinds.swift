import Foundation
import Synchronization

/// What registers the kind of stores that a further module brings.
package protocol LinkedStoreKind {
  static func register()
}

/// The kinds of stores that the process knows, by type.
package enum StoreKinds {
  /// The kind of a store whose type is not given.
  package static let standard: any StoreKind = SQLiteStoreKind()

  private static let _builtIn: [String: any StoreKind] = [
    standard.type: standard, NSInMemoryStoreType: MemoryStoreKind(),
  ]
  private static let _registered = Mutex<[String: any StoreKind]>([:])

  /// Registers a kind that a further module brings, once; later registrations of the type replace it.
  package static func register(_ kind: any StoreKind) {
    _registered.withLock { $0[kind.type] = kind }
  }

  /// Removes a registered kind. Built-in ones stay.
  package static func remove(_ type: String) {
    _ = _registered.withLock { $0.removeValue(forKey: type) }
  }

  package static func isBuiltIn(_ type: String) -> Bool { _builtIn[type] != nil }

  /// The kind of a type; nil for a type that is not known.
  package static func known(_ type: String) -> (any StoreKind)? {
    if let known = _builtIn[type] ?? _registered.withLock({ $0[type] }) { return known }
    guard let name = _linked[type], let linked = _typeByName(name) as? any LinkedStoreKind.Type else {
      return nil
    }
    linked.register()
    return _registered.withLock { $0[type] }
  }

  /// Types that modules of this package bring, with the mangled names of what registers them where the program links
  /// them: no code of a module runs before it is called.
  private static let _linked = ["PostgreSQL": "18CoreDataPostgreSQL10LinkedKindO"]

  /// The kind of a type.
  ///
  /// - Throws: A Cocoa error with code 134000 for a type that is not known.
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
