import Foundation

/// Describes a store that a container adds. Not safe to use from several threads at once.
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: storeURL)
/// description.configuration = "Library"
/// description.timeout = 5
/// container.persistentStoreDescriptions = [description]
/// ```
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// Type of the store; SQLite unless set.
  open var type = StoreKinds.standard.type
  /// Configuration of the model that the store takes; nil for all entities.
  open var configuration: String?
  /// URL of the file.
  open var url: URL?
  private var _options: [String: NSObject] = [:]
  private var _pragmas: [String: NSObject] = [:]
  /// Whether the store is added on a queue of its own, and the completion handler called there.
  ///
  /// ```swift
  /// description.shouldAddStoreAsynchronously = true
  /// container.loadPersistentStores { _, error in
  ///   // Runs on a background queue once a migration, if one is due, has ended.
  ///   print(error.map { "\($0)" } ?? "The store is open.")
  /// }
  /// ```
  open var shouldAddStoreAsynchronously = false

  /// Creates a description of a SQLite store at a URL. The store migrates when it is loaded under a changed
  /// model.
  public init(url: URL) {
    self.url = url
    super.init()
    shouldMigrateStoreAutomatically = true
    shouldInferMappingModelAutomatically = true
  }

  /// Creates a description with the URL `file:///dev/null`, to be filled in; a store of type SQLite that is added there
  /// is in memory.
  ///
  /// ```swift
  /// let description = NSPersistentStoreDescription()
  /// description.url = URL(fileURLWithPath: "/dev/null")  // a SQLite store in memory, for tests
  /// ```
  public override init() {
    url = URL(fileURLWithPath: "/dev/null")
    super.init()
    shouldMigrateStoreAutomatically = true
    shouldInferMappingModelAutomatically = true
  }

  /// Options that the store is added with.
  open var options: [String: NSObject] {
    var options = _options
    if !_pragmas.isEmpty { options[NSSQLitePragmasOption] = NSDictionary(dictionary: _pragmas) }
    return options
  }

  /// Sets or, with nil, removes an option.
  ///
  /// ```swift
  /// description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
  /// description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
  /// ```
  open func setOption(_ option: NSObject?, forKey key: String) { _options[key] = option }

  /// SQLite pragmas that the store is opened with.
  open var sqlitePragmas: [String: NSObject] { _pragmas }

  /// Sets or, with nil, removes a SQLite pragma; the value is a string.
  ///
  /// ```swift
  /// description.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
  /// ```
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) { _pragmas[name] = value }

  /// Whether saves to the store fail.
  ///
  /// ```swift
  /// let description = NSPersistentStoreDescription(url: storeURL)
  /// description.isReadOnly = true
  /// ```
  open var isReadOnly: Bool {
    get { _flag(NSReadOnlyPersistentStoreOption) }
    set { _options[NSReadOnlyPersistentStoreOption] = NSNumber(value: newValue) }
  }

  /// Seconds to wait for a file that another process is writing.
  open var timeout: TimeInterval {
    get { (_options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { _options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
  }

  /// Whether a store of another model version is migrated.
  ///
  /// ```swift
  /// description.shouldMigrateStoreAutomatically = false  // a store of another version is an error
  /// ```
  open var shouldMigrateStoreAutomatically: Bool {
    get { _flag(NSMigratePersistentStoresAutomaticallyOption) }
    set { _options[NSMigratePersistentStoresAutomaticallyOption] = NSNumber(value: newValue) }
  }

  /// Whether the mapping of a migration is inferred.
  open var shouldInferMappingModelAutomatically: Bool {
    get { _flag(NSInferMappingModelAutomaticallyOption) }
    set { _options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
  }

  private func _flag(_ key: String) -> Bool { (_options[key] as? NSNumber)?.boolValue ?? false }

  /// Returns a copy that may be changed independently.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription()
    copy.type = type
    copy.configuration = configuration
    copy.url = url
    copy._options = _options
    copy._pragmas = _pragmas
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    return copy
  }

  /// Returns an independent copy.
  open override func copy() -> Any { copy(with: nil) }
}

extension NSPersistentStoreCoordinator {
  final func addStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    // Handed over whole: the caller leaves the description and the handler alone until the handler is called.
    nonisolated(unsafe) let description = storeDescription
    nonisolated(unsafe) let block = block
    @Sendable func add() {
      do {
        try addPersistentStore(
          ofType: description.type, configurationName: description.configuration, at: description.url,
          options: description.options)
        block(description, nil)
      } catch {
        block(description, error)
      }
    }
    if storeDescription.shouldAddStoreAsynchronously {
      DispatchQueue.global().async(execute: add)
    } else {
      add()
    }
  }
}
