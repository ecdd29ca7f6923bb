/// The location and settings of a container's store: a file, or memory.
public struct ModelConfiguration: Hashable, Identifiable, Sendable, DataStoreConfiguration {
  /// The kind of store.
  public typealias Store = DefaultStore

  /// Name of the configuration, and of the file unless a URL is given.
  public let name: String
  /// The entities in the store; nil for all of the container's schema.
  public var schema: Schema?
  /// Location of the store; `file:///dev/null` in memory.
  public let url: URL
  /// Whether models may be saved.
  public let allowsSave: Bool
  /// Whether the store is in memory only.
  public let isStoredInMemoryOnly: Bool
  /// The group of applications that shares the store.
  public let groupContainer: GroupContainer
  /// Identifier of that group; nil for none.
  public let groupAppContainerIdentifier: String?
  /// The database given; there is no CloudKit here.
  public let cloudKitDatabase: CloudKitDatabase
  /// Nil: there is no CloudKit here.
  public let cloudKitContainerIdentifier: String?

  /// The name.
  public var id: String { name }

  private init(
    name: String?, schema: Schema?, url: URL?, inMemory: Bool, allowsSave: Bool,
    groupContainer: GroupContainer, cloudKitDatabase: CloudKitDatabase
  ) {
    // Two configurations in memory are distinct, though neither has a name.
    let ofFile = url.map { $0.deletingPathExtension().lastPathComponent }
    let given = name ?? (inMemory ? UUID().uuidString : ofFile)
    let name = given.flatMap { $0.isEmpty ? nil : $0 } ?? "default"
    self.name = name
    self.schema = schema
    isStoredInMemoryOnly = inMemory
    self.allowsSave = allowsSave
    self.groupContainer = groupContainer
    groupAppContainerIdentifier = groupContainer.identifier
    self.cloudKitDatabase = cloudKitDatabase
    cloudKitContainerIdentifier = nil
    self.url =
      inMemory
      ? URL(fileURLWithPath: "/dev/null")
      : url
        ?? DefaultPlace.directory(ofGroup: groupContainer.identifier).appendingPathComponent("\(name).store")
  }

  /// Creates a configuration named `default`, at the default location or in memory.
  public init(isStoredInMemoryOnly: Bool = false) {
    self.init(
      name: nil, schema: nil, url: nil, inMemory: isStoredInMemoryOnly, allowsSave: true,
      groupContainer: .automatic, cloudKitDatabase: .automatic)
  }

  /// Creates a configuration for some model classes and all classes reachable through their relationships.
  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(
      name: nil, schema: Schema(forTypes), url: nil, inMemory: isStoredInMemoryOnly, allowsSave: true,
      groupContainer: .automatic, cloudKitDatabase: .automatic)
  }

  /// Creates a configuration at the default location or in memory.
  ///
  /// - Parameters:
  ///   - name: Name of the configuration and of its file; nil for `default`.
  ///   - schema: The entities in the store; nil for all of the container's.
  ///   - isStoredInMemoryOnly: Whether the store is in memory only.
  ///   - allowsSave: Whether models may be saved.
  ///   - groupContainer: The group of applications that shares the store; determines its directory.
  ///   - cloudKitDatabase: Has no effect.
  public init(
    _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
    groupContainer: ModelConfiguration.GroupContainer = .automatic,
    cloudKitDatabase: ModelConfiguration.CloudKitDatabase = .automatic
  ) {
    self.init(
      name: name, schema: schema, url: nil, inMemory: isStoredInMemoryOnly, allowsSave: allowsSave,
      groupContainer: groupContainer, cloudKitDatabase: cloudKitDatabase)
  }

  /// Creates a configuration for a given file.
  ///
  /// - Parameters:
  ///   - name: Name of the configuration; nil for that of the file.
  ///   - schema: The entities in the store; nil for all of the container's.
  ///   - url: The file; its directory is created if necessary.
  ///   - allowsSave: Whether models may be saved.
  ///   - cloudKitDatabase: Has no effect.
  public init(
    _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
    cloudKitDatabase: ModelConfiguration.CloudKitDatabase = .automatic
  ) {
    self.init(
      name: name, schema: schema, url: url, inMemory: url.path == "/dev/null", allowsSave: allowsSave,
      groupContainer: .none, cloudKitDatabase: cloudKitDatabase)
  }

  /// Checks that the name is a valid file name.
  ///
  /// - Throws: `SwiftDataError.configurationFileNameContainsInvalidCharacters` or `.configurationFileNameTooLong`.
  public func validate() throws {
    if name.contains("/") || name.contains("\0") {
      throw SwiftDataError(
        .configurationFileNameContainsInvalidCharacters, "'\(name)' contains a '/' or a NUL.")
    }
    // The store's other files end in -wal and -shm.
    guard "\(name).store-wal".utf8.count <= 255 else {
      throw SwiftDataError(
        .configurationFileNameTooLong,
        "'\(name.prefix(40))…' has \(name.utf8.count) bytes; a file's name may have 245.")
    }
  }

  /// Whether both have the same settings and location.
  public static func == (lhs: ModelConfiguration, rhs: ModelConfiguration) -> Bool {
    lhs.name == rhs.name && lhs.url == rhs.url && lhs.schema == rhs.schema
      && lhs.allowsSave == rhs.allowsSave && lhs.isStoredInMemoryOnly == rhs.isStoredInMemoryOnly
      && lhs.groupContainer == rhs.groupContainer && lhs.cloudKitDatabase == rhs.cloudKitDatabase
  }

  /// Hashes name and location.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(url)
  }
}

extension ModelConfiguration: CustomDebugStringConvertible {
  /// Name and location.
  public var debugDescription: String {
    "ModelConfiguration(\(name), \(isStoredInMemoryOnly ? "in memory" : url.path), allowsSave: \(allowsSave))"
  }
}
