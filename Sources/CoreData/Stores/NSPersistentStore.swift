import Foundation
import ModelSchema
import Synchronization

/// One store of a coordinator: a SQLite file, or memory. May be used from any thread.
open class NSPersistentStore: NSObject, Reachable, @unchecked Sendable {
  // Unchecked: `_state` is guarded by its lock; the engine is Sendable and set once, before the store is added.

  private struct State: @unchecked Sendable {
    // Unchecked: metadata is property list values that nobody changes in place.
    var url: URL?
    var metadata: [String: Any]
    var needsMetadataSave = false
    var isReadOnly: Bool
  }

  private let _state: Mutex<State>
  private let _type: String
  private let _configurationName: String
  private let _options: [AnyHashable: Any]?
  /// Does the work; nil only while the store is being opened.
  final private(set) var engine: (any StoreEngine)?
  /// Identity of the store in object IDs.
  final private(set) var key: StoreKey
  /// Names of the entities the store takes; nil for all.
  final let entities: Set<String>?
  final let lifeline = Lifeline()
  @Loose final var _coordinator: NSPersistentStoreCoordinator?
  /// Follows what others write to the store, if asked to.
  final let remoteChanges = Mutex<RemoteChangeWatch?>(nil)

  init(
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
    lifeline.tie(to: self)
  }

  deinit { lifeline.cut() }

  /// Gives the store what does its work; once.
  final func attach(_ engine: any StoreEngine, metadata: [String: Any]) {
    self.engine = engine
    var state = _state.withLock { $0 }
    state.metadata = metadata
    let new = state
    _state.withLock { $0 = new }
    if let identifier = metadata[NSStoreUUIDKey] as? String { key = StoreKey.named(identifier) }
  }

  /// Coordinator that the store was added to.
  open var persistentStoreCoordinator: NSPersistentStoreCoordinator? { _coordinator }

  /// Configuration of the model that the store holds.
  open var configurationName: String { _configurationName }

  /// Options it was added with.
  open var options: [AnyHashable: Any]? { _options }

  /// Class that migrates stores of this kind object by object.
  open class func migrationManagerClass() -> AnyClass { NSMigrationManager.self }

  /// Where the store lies; nil for memory.
  open var url: URL? { _state.withLock { $0.url } }

  /// UUID of the store, as in its metadata.
  open var identifier: String! { key.identifier }

  /// One of the store type constants.
  open var type: String { _type }

  /// Whether saves to the store fail.
  open var isReadOnly: Bool { _state.withLock { $0.isReadOnly } }

  /// Metadata; what is set reaches the file with the next save.
  open var metadata: [String: Any]! {
    get {
      _state.withLock { $0 }.metadata
    }
    set { setMetadata(newValue ?? [:]) }
  }

  final func setMetadata(_ metadata: [String: Any]) {
    var metadata = metadata
    metadata[NSStoreTypeKey] = _type
    if metadata[NSStoreUUIDKey] == nil { metadata[NSStoreUUIDKey] = key.identifier }
    metadata = NSPersistentStore.completed(metadata, from: self.metadata ?? [:])
    var state = _state.withLock { $0 }
    state.metadata = metadata
    state.needsMetadataSave = true
    let new = state
    _state.withLock { $0 = new }
  }

  /// Keys about the format, which setting an application's own metadata does not remove.
  static let formatKeys: Set<String> = [
    NSStoreModelVersionHashesKey, NSStoreModelVersionIdentifiersKey, "NSPersistenceFrameworkVersion",
    "NSPersistenceMaximumFrameworkVersion", "NSStoreModelVersionHashesVersion",
    "NSStoreModelVersionHashesDigest",
    "NSStoreModelVersionChecksumKey", "_NSAutoVacuumLevel",
  ]

  final var needsMetadataSave: Bool { _state.withLock { $0.needsMetadataSave } }

  final func saveMetadataIfNeeded() throws {
    guard needsMetadataSave, !isReadOnly else { return }
    try engine?.setMetadata(metadata)
    _state.withLock { $0.needsMetadataSave = false }
  }

  final var takesAllEntities: Bool { entities == nil && !isReadOnly }

  final func takes(_ entity: String) -> Bool { entities?.contains(entity) ?? true }
}

extension NSPersistentStore {
  /// A kind of store, in Swift's spelling.
  public struct StoreType: Hashable, RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A SQLite file in Apple's layout.
    public static let sqlite = StoreType(rawValue: NSSQLiteStoreType)
    /// Memory.
    public static let inMemory = StoreType(rawValue: NSInMemoryStoreType)
    /// One file, read and written whole.
    public static let binary = StoreType(rawValue: NSBinaryStoreType)
  }
}
