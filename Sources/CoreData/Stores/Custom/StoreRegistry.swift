import Foundation

extension NSPersistentStoreCoordinator {
  /// Store types that can be added. The value is the address of the store class: without Objective-C there
  /// are no boxed classes as in Core Data.
  public class var registeredStoreTypes: [String: NSValue] {
    let types = StoreKinds.all.map { kind in
      (kind.type, NSNumber(value: UInt(bitPattern: ObjectIdentifier(kind.storeClass))) as NSValue)
    }
    return Dictionary(uniqueKeysWithValues: types)
  }

  /// Registers a custom class for stores of a type; nil removes it.
  ///
  /// ```swift
  /// final class WebStore: NSIncrementalStore, @unchecked Sendable {}
  ///
  /// NSPersistentStoreCoordinator.registerStoreClass(WebStore.self, forStoreType: "WebStore")
  /// description.type = "WebStore"
  /// ```
  ///
  /// - Parameters:
  ///   - storeClass: A subclass of `NSIncrementalStore` or `NSAtomicStore`; traps for any other class.
  ///   - storeType: The type with which such stores are added: any text that is not a built-in type.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else { return StoreKinds.remove(storeType) }
    guard let type = storeClass as? NSPersistentStore.Type,
      storeClass is NSIncrementalStore.Type || storeClass is NSAtomicStore.Type
    else {
      programmerError(
        "\(storeClass) cannot be registered for stores of type '\(storeType)': it is no subclass of NSIncrementalStore or "
          + "NSAtomicStore.")
    }
    guard !StoreKinds.isBuiltIn(storeType) else {
      programmerError(
        "stores of type '\(storeType)' are built in; register \(storeClass) for a type of its own.")
    }
    StoreKinds.register(CustomStoreKind(type: storeType, storeClass: type))
  }

  /// Registers a custom class for stores of a type, as `registerStoreClass(_:forStoreType:)` does.
  public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: type.rawValue)
  }
}

/// Creates stores of registered classes.
///
/// Their initializer need not be `required`; `ObjectMaker` describes how it is called nevertheless.
/// `CustomStoreTests` verifies this for each toolchain.
enum StoreMaker {
  /// Same shape as `NSPersistentStore`; never instantiated.
  class VTableShape: NSObject {
    // One for each of NSPersistentStore's stored properties.
    final var state = 0, type = 0, configurationName = 0, options = 0, engine = 0, objectEngine = 0, key = 0
    final var entities = 0, weakAnchor = 0, coordinator = 0, remoteChanges = 0

    required init(
      persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
      at url: URL, options: [AnyHashable: Any]?
    ) {
      fatalError("this class is only looked through")
    }
  }

  /// Overrides the initializer, so that the compiler does not infer that `VTableShape` is final and call it
  /// directly.
  final class OverridingVTableShape: VTableShape {
    required init(
      persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
      at url: URL, options: [AnyHashable: Any]?
    ) {
      super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
    }
  }

  static func make(
    _ type: NSPersistentStore.Type, _ coordinator: NSPersistentStoreCoordinator, _ configuration: String?,
    _ url: URL, _ options: [AnyHashable: Any]?
  ) -> NSPersistentStore {
    let shaped = unsafeBitCast(type, to: VTableShape.Type.self)
    let made = shaped.init(
      persistentStoreCoordinator: coordinator, configurationName: configuration, at: url, options: options)
    return unsafeBitCast(made as AnyObject, to: NSPersistentStore.self)
  }
}
