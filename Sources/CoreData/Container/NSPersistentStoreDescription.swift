import Foundation

/// Describes a store for a container to add. Not safe to use from several threads at once.
///
/// ```swift
/// let description = NSPersistentStoreDescription(url: storeURL)
/// description.configuration = "Library"
/// description.timeout = 5
/// container.persistentStoreDescriptions = [description]
/// ```
open class NSPersistentStoreDescription: NSObject, NSCopying {
  /// The store type; SQLite by default.
  open var type = StoreKinds.standard.type
  /// Configuration of the model for the store; nil for all entities.
  open var configuration: String?
  /// URL of the file.
  open var url: URL?
  private var _options: [String: NSObject] = [:]
  private var _pragmas: [String: NSObject] = [:]
  /// Whether to add the store on a separate queue and call the completion handler there.
  ///
  /// ```swift
  /// description.shouldAddStoreAsynchronously = true
  /// container.loadPersistentStores { _, error in
  ///   // Runs on a background queue once a migration, if one is due, has ended.
  ///   print(error.map { "\($0)" } ?? "The store is open.")
  /// }
  /// ```
  open var shouldAddStoreAsynchronously = false

  /// Creates a description of a SQLite store at a URL. The store is migrated if it is loaded with a changed
  /// model.
  public init(url: URL) {
    self.url = url
    super.init()
    shouldMigrateStoreAutomatically = true
    shouldInferMappingModelAutomatically = true
  }

  /// Creates a description with the placeholder URL `file:///dev/null`; a SQLite store added with it is in
  /// memory.
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

  /// The options for adding the store.
  open var options: [String: NSObject] {
    var options = _options
    if !_pragmas.isEmpty { options[NSSQLitePragmasOption] = NSDictionary(dictionary: _pragmas) }
    return options
  }

  /// Sets an option; nil removes it.
  ///
  /// ```swift
  /// description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
  /// description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
  /// ```
  open func setOption(_ option: NSObject?, forKey key: String) { _options[key] = option }

  /// SQLite pragmas for opening the store.
  open var sqlitePragmas: [String: NSObject] { _pragmas }

  /// Sets a SQLite pragma, as a string; nil removes it.
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

  /// Seconds to wait for a file that another process has locked.
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

  /// Whether the mapping model of a migration is inferred.
  open var shouldInferMappingModelAutomatically: Bool {
    get { _flag(NSInferMappingModelAutomaticallyOption) }
    set { _options[NSInferMappingModelAutomaticallyOption] = NSNumber(value: newValue) }
  }

  private func _flag(_ key: String) -> Bool { (_options[key] as? NSNumber)?.boolValue ?? false }

  /// Returns an independent copy.
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
    // The caller must not touch the description and the handler until the handler is called.
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
