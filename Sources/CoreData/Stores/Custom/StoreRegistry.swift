import Foundation
import Synchronization

/// The custom classes that stores are made of, by store type.
enum StoreRegistry {
  private static let _classes = Mutex<[String: NSPersistentStore.Type]>([:])

  static func storeClass(for type: String) -> NSPersistentStore.Type? { _classes.withLock { $0[type] } }

  static func register(_ storeClass: NSPersistentStore.Type?, for type: String) {
    _classes.withLock { $0[type] = storeClass }
  }

  static var classes: [String: NSPersistentStore.Type] { _classes.withLock { $0 } }
}

extension NSPersistentStoreCoordinator {
  /// Store types that can be added. The value is the address of the class of their stores: boxed classes, as
  /// Core Data has them here, there are none without Objective-C.
  public class var registeredStoreTypes: [String: NSValue] {
    var types = StoreRegistry.classes
    for builtIn in [NSSQLiteStoreType, NSInMemoryStoreType] where types[builtIn] == nil {
      types[builtIn] = NSPersistentStore.self
    }
    return types.mapValues { NSNumber(value: UInt(bitPattern: ObjectIdentifier($0))) }
  }

  /// Has stores of a type made of a custom class; nil removes it.
  ///
  /// - Parameters:
  ///   - storeClass: A subclass of `NSIncrementalStore` or `NSAtomicStore`; anything else traps.
  ///   - storeType: The type to add such stores with: any text that is not one of the built-in types.
  public class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    guard let storeClass else { return StoreRegistry.register(nil, for: storeType) }
    guard let type = storeClass as? NSPersistentStore.Type,
      storeClass is NSIncrementalStore.Type || storeClass is NSAtomicStore.Type
    else {
      programmerError(
        "\(storeClass) cannot be registered for stores of type '\(storeType)': it is no subclass of NSIncrementalStore or "
          + "NSAtomicStore.")
    }
    guard storeType != NSSQLiteStoreType, storeType != NSInMemoryStoreType else {
      programmerError(
        "stores of type '\(storeType)' are built in; register \(storeClass) for a type of its own.")
    }
    StoreRegistry.register(type, for: storeType)
  }

  /// Has stores of a type made of a custom class; as the other form.
  public class func registerStoreClass(_ storeClass: AnyClass?, type: NSPersistentStore.StoreType) {
    registerStoreClass(storeClass, forStoreType: type.rawValue)
  }

  /// Makes a store of the class registered for a type, and opens it.
  ///
  /// - Throws: 134000 for a type that nothing is registered for, 134100 for a store of another model version,
  ///   and what the class throws.
  final func openRegistered(
    _ storeType: String, _ configuration: String?, _ url: URL?, _ options: [AnyHashable: Any]?,
    _ model: FrozenModel
  ) throws -> NSPersistentStore {
    guard let storeClass = StoreRegistry.storeClass(for: storeType) else {
      let known = Self.registeredStoreTypes.keys.sorted().map { "'\($0)'" }.joined(separator: ", ")
      throw CocoaError.coreData(
        NSPersistentStoreInvalidTypeError,
        "There is no store type '\(storeType)'. There are \(known); a custom class is made known with "
          + "registerStoreClass(_:forStoreType:).")
    }
    let place = url ?? URL(fileURLWithPath: "/dev/null")
    let store = StoreMaker.make(storeClass, self, configuration, place, options)
    try store.loadMetadata()
    var metadata = store.metadata ?? [:]
    if metadata[NSStoreTypeKey] == nil { metadata[NSStoreTypeKey] = storeType }
    switch store {
    case let store as NSIncrementalStore:
      store.attach(IncrementalStoreEngine(store, model), metadata: metadata)
    case let store as NSAtomicStore:
      let engine = AtomicStoreEngine(store, model)
      store.attach(engine, metadata: metadata)
      try store.load()
      try engine.adopt(store.cacheNodes())
    default: break
    }
    try _checkVersion(metadata, of: place, configuration, options)
    if metadata[NSStoreModelVersionHashesKey] == nil || store.isReadOnly == false {
      metadata[NSStoreModelVersionHashesKey] = model.versionHashes
      store.attach(store.engine!, metadata: metadata)
    }
    return store
  }

  private final func _checkVersion(
    _ metadata: [String: Any], of url: URL, _ configuration: String?, _ options: [AnyHashable: Any]?
  ) throws {
    guard metadata[NSStoreModelVersionHashesKey] is [String: Any],
      !((options?[NSIgnorePersistentStoreVersioningOption] as? NSNumber)?.boolValue ?? false),
      !model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata),
      !model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata)
    else { return }
    throw CocoaError.coreData(
      NSPersistentStoreIncompatibleVersionHashError,
      "The store at \(url.path) was written with another version of the model "
        + "(\(SQLiteStoreOpening.differences(model, metadata))). Stores of a custom class are not migrated by "
        + "themselves: open it with that version, or use an NSMigrationManager.", ["metadata": metadata])
  }
}

/// Makes stores of the classes that are registered.
///
/// The initialiser need not be `required` in them; `ObjectMaker` tells how it is reached all the same.
/// `CustomStoreTests` hold this to account for each toolchain.
private enum StoreMaker {
  /// Same shape as `NSPersistentStore`; never instantiated.
  class Lens: NSObject {
    // One for each of NSPersistentStore's stored properties.
    final var state = 0, type = 0, configurationName = 0, options = 0, engine = 0, objectEngine = 0, key = 0
    final var entities = 0, lifeline = 0, coordinator = 0, remoteChanges = 0

    required init(
      persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
      at url: URL, options: [AnyHashable: Any]?
    ) {
      fatalError("the lens is only looked through")
    }
  }

  /// Overrides the initialiser, so that the compiler does not take `Lens` for final and call it directly.
  final class OtherLens: Lens {
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
    let lens = unsafeBitCast(type, to: Lens.Type.self)
    let made = lens.init(
      persistentStoreCoordinator: coordinator, configurationName: configuration, at: url, options: options)
    return unsafeBitCast(made as AnyObject, to: NSPersistentStore.self)
  }
}
