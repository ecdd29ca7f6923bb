import CoreDataModelSchema
import Foundation
import Synchronization

/// A store of a coordinator: a SQLite file, memory, or a custom store. May be used from any thread.
///
/// Custom stores are subclasses of `NSIncrementalStore` or `NSAtomicStore`, registered with
/// `NSPersistentStoreCoordinator.registerStoreClass(_:forStoreType:)`.
///
/// ```swift
/// for store in coordinator.persistentStores { print(store.type, store.url?.path ?? "memory") }
/// ```
open class NSPersistentStore: NSObject, Reachable, @unchecked Sendable {
  // Unchecked: `_state` is guarded by its lock; engine and key are set once, before the store is added.

  /// Creates a store of a custom class. The coordinator calls it when a store of the registered type is
  /// added.
  ///
  /// First member of the class: `StoreMaker` calls a subclass's override by its index.
  ///
  /// - Parameters:
  ///   - root: The coordinator to which the store is added.
  ///   - name: Configuration of the model that the store holds; nil for all entities.
  ///   - url: URL of the store.
  ///   - options: Options for adding the store.
  public init(
    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?,
    at url: URL, options: [AnyHashable: Any]? = nil
  ) {
    _type = ""
    _configurationName = name ?? NSManagedObjectModel.defaultConfigurationName
    _options = options
    entities = root.flatMap { try? $0.entities(of: name) }
    key = StoreKey.named(UUID().uuidString)
    let isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue ?? false
    _state = Mutex(State(url: url, metadata: [:], isReadOnly: isReadOnly))
    super.init()
    weakAnchor.tie(to: self)
    _coordinator = root
  }

  private struct State: @unchecked Sendable {
    // Unchecked: metadata are property list values, which are not mutated in place.
    var url: URL?
    var metadata: [String: Any]
    var needsMetadataSave = false
    /// Makes the metadata that the next save writes from those in the store.
    var renewal: (([String: Any]) -> [String: Any]?)?
    var isReadOnly: Bool
  }

  private let _state: Mutex<State>
  /// Empty for a store of a custom class, which provides its own type.
  private let _type: String
  private let _configurationName: String
  private let _options: [AnyHashable: Any]?
  /// Implements the store; nil only while the store is being opened.
  @exclusivity(unchecked) package final private(set) var engine: (any StoreEngine)?
  /// The engine, if it receives saves as objects; nil for engines that receive values.
  final private(set) var objectEngine: (any ManagedObjectStoring)?
  /// The store's identity in object IDs.
  @exclusivity(unchecked) package final private(set) var key: StoreKey
  /// Names of the entities that the store holds; nil for all.
  package final let entities: Set<String>?
  final let weakAnchor = WeakAnchor()
  @Loose final var _coordinator: NSPersistentStoreCoordinator?
  /// Watches for commits by any process, if enabled.
  final let remoteChanges = Mutex<RemoteChangeWatch?>(nil)

  package init(
    type: String, configuration: String?, url: URL?, options: [AnyHashable: Any]?, entities: Set<String>?,
    isReadOnly: Bool, metadata: [String: Any], key: StoreKey
  ) {
    _type = type
    _configurationName = configuration ?? "PF_DEFAULT_CONFIGURATION_NAME"
    _options = options
    self.entities = entities
    self.key = key
    _state = Mutex(State(url: url, metadata: metadata, isReadOnly: isReadOnly))
    super.init()
    weakAnchor.tie(to: self)
  }

  deinit { weakAnchor.cut() }

  /// Attaches the engine; called once.
  package final func attach(_ engine: any StoreEngine, metadata: [String: Any]) {
    self.engine = engine
    objectEngine = engine as? any ManagedObjectStoring
    var state = _state.withLock { $0 }
    state.metadata = metadata
    state.needsMetadataSave = false
    let new = state
    _state.withLock { $0 = new }
    if let identifier = metadata[NSStoreUUIDKey] as? String { key = StoreKey.named(identifier) }
  }

  /// The coordinator to which the store was added.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { _coordinator }

  /// Configuration of the model that the store holds.
  open var configurationName: String { _configurationName }

  /// The options with which the store was added.
  open var options: [AnyHashable: Any]? { _options }

  /// The class that migrates stores of this kind object by object.
  open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

  /// URL of the store; nil for memory. A new URL takes effect with the next save; see
  /// `NSPersistentStoreCoordinator.setURL(_:for:)`.
  open var url: URL? {
    get { _state.withLock { $0.url } }
    set { _state.withLock { $0.url = newValue } }
  }

  /// UUID of the store, as in its metadata.
  ///
  /// Object IDs keep the UUID with which the store was added until it is added again.
  open var identifier: String! {
    get { _state.withLock { $0.metadata[NSStoreUUIDKey] as? String } ?? key.identifier }
    set {
      guard let newValue else { return }
      var metadata = self.metadata ?? [:]
      metadata[NSStoreUUIDKey] = newValue
      setMetadata(metadata)
    }
  }

  /// One of the store type constants, or the type registered for a custom class.
  open var type: String {
    _type.isEmpty ? _state.withLock { $0.metadata[NSStoreTypeKey] as? String } ?? "" : _type
  }

  /// Whether saves to the store fail.
  open var isReadOnly: Bool {
    get { _state.withLock { $0.isReadOnly } }
    set { _state.withLock { $0.isReadOnly = newValue } }
  }

  /// Metadata of the store. Changes reach the file with the next save.
  ///
  /// A custom class sets them in `loadMetadata()`, with at least `NSStoreTypeKey` and `NSStoreUUIDKey`.
  ///
  /// ```swift
  /// store.metadata["LastImport"] = Date()
  /// try context.save()
  /// ```
  open var metadata: [String: Any]! {
    get {
      _state.withLock { $0 }.metadata
    }
    set { setMetadata(newValue ?? [:]) }
  }

  package final func setMetadata(_ metadata: [String: Any]) {
    var metadata = metadata
    if !_type.isEmpty { metadata[NSStoreTypeKey] = _type }
    if let identifier = metadata[NSStoreUUIDKey] as? String {
      if engine == nil { key = StoreKey.named(identifier) }
    } else {
      metadata[NSStoreUUIDKey] = identifier
    }
    metadata = NSPersistentStore.completed(metadata, from: self.metadata ?? [:])
    var state = _state.withLock { $0 }
    state.metadata = metadata
    state.needsMetadataSave = true
    let new = state
    _state.withLock { $0 = new }
  }

  /// Shows metadata that the next save brings into the store: by `change`, from what is there then.
  final func renewMetadata(
    _ metadata: [String: Any], by change: @escaping ([String: Any]) -> [String: Any]?
  ) {
    var state = _state.withLock { $0 }
    state.metadata = metadata
    state.renewal = change
    let new = state
    _state.withLock { $0 = new }
  }

  // MARK: For custom classes

  /// Checks the URL and sets `metadata`. Called before the store is added.
  ///
  /// ```swift
  /// final class WebStore: NSIncrementalStore, @unchecked Sendable {
  ///   override func loadMetadata() throws {
  ///     metadata = [
  ///       NSStoreTypeKey: "WebStore", NSStoreUUIDKey: Self.identifierForNewStore(at: url!),
  ///     ]
  ///   }
  /// }
  /// ```
  ///
  /// - Throws: The error to throw from `addPersistentStore(ofType:configurationName:at:options:)`.
  open func loadMetadata() throws {}

  /// Called after the store was added.
  open func didAdd(to coordinator: NSPersistentStoreCoordinator) {}

  /// Called before the store is removed.
  open func willRemove(from coordinator: NSPersistentStoreCoordinator?) {}

  /// Reads metadata of the store at a URL without opening the store. Unless overridden, reads a file of the
  /// standard kind.
  ///
  /// - Throws: A Cocoa error if the file does not exist or is not a store.
  open class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try StoreKinds.standard.metadata(at: url, options: nil)
  }

  /// Writes metadata into the store at a URL without opening the store. Unless overridden, writes a file of
  /// the standard kind.
  ///
  /// - Throws: As the coordinator's method.
  open class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    try StoreKinds.standard.setMetadata(metadata, at: url, options: nil)
  }

  /// Format-related keys, which setting an application's metadata does not remove.
  package static let formatKeys: Set<String> = [
    NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, "NSPersistenceFrameworkVersion",
    "NSPersistenceMaximumFrameworkVersion", "NSStoreModelVersionHashesVersion",
    "NSStoreModelVersionHashesDigest",
    "NSStoreModelVersionChecksumKey", "_NSAutoVacuumLevel",
  ]

  package final var needsMetadataSave: Bool { _state.withLock { $0.needsMetadataSave } }

  package final func saveMetadataIfNeeded() throws {
    let state = _state.withLock { $0 }
    guard state.needsMetadataSave || state.renewal != nil, !isReadOnly else { return }
    if state.needsMetadataSave {
      try engine?.setMetadata(metadata)
    } else if let renewal = state.renewal {
      try engine?.changeMetadata(renewal)
    }
    _state.withLock {
      $0.needsMetadataSave = false
      $0.renewal = nil
    }
  }

  package final var takesAllEntities: Bool { entities == nil && !isReadOnly }

  package final func takes(_ entity: String) -> Bool { entities?.contains(entity) ?? true }

  /// What a write into a read-only store fails with: 513, as in Core Data.
  ///
  /// - Parameter purpose: What the program wanted to do, as in "save to it".
  final func readOnlyError(_ purpose: String) -> CocoaError {
    CocoaError.coreData(
      CocoaError.fileWriteNoPermission.rawValue,
      "The store at \(url?.path ?? "memory") is read-only; add it without NSReadOnlyPersistentStoreOption to "
        + "\(purpose), and check that its file and directory are writable.",
      [NSAffectedStoresErrorKey: [self]])
  }
}

extension NSPersistentStore {
  /// A kind of store, in Swift spelling.
  ///
  /// ```swift
  /// try coordinator.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
  /// ```
  public struct StoreType: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A SQLite file in Apple's layout.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    /// Memory.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    /// A single file, read and written as a whole.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
    /// A single XML file, read and written as a whole.
    public static let xml = StoreType(rawValue: NSXMLStoreType)
  }
}
