/// Where and how a container keeps models: a file, or memory.
public struct ModelConfiguration: Hashable, Identifiable, Sendable, DataStoreConfiguration {
  /// The store that it stands for.
  public typealias Store = DefaultStore

  /// Name of the configuration, and of the file unless a URL is given.
  public let name: String
  /// The entities that it keeps; nil for all of the container's schema.
  public var schema: Schema?
  /// Place of the store; `file:///dev/null` in memory.
  public let url: URL
  /// Whether models may be saved.
  public let allowsSave: Bool
  /// Whether nothing is written to a file.
  public let isStoredInMemoryOnly: Bool
  /// Which group of applications shares the store.
  public let groupContainer: GroupContainer
  /// Identifier of that group; nil for none.
  public let groupAppContainerIdentifier: String?
  /// As given; there is no CloudKit here.
  public let cloudKitDatabase: CloudKitDatabase
  /// Nil: there is no CloudKit here.
  public let cloudKitContainerIdentifier: String?

  /// The name.
  public var id: String { name }

  private init(
    name: String?, schema: Schema?, url: URL?, inMemory: Bool, allowsSave: Bool,
    groupContainer: GroupContainer, cloudKitDatabase: CloudKitDatabase
  ) {
    // Two in memory are two, though neither has a name.
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

  /// Creates a configuration named `default`, in the default place or in memory.
  public init(isStoredInMemoryOnly: Bool = false) {
    self.init(
      name: nil, schema: nil, url: nil, inMemory: isStoredInMemoryOnly, allowsSave: true,
      groupContainer: .automatic, cloudKitDatabase: .automatic)
  }

  /// Creates a configuration that keeps some model classes and all that their relationships lead to.
  public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
    self.init(
      name: nil, schema: Schema(forTypes), url: nil, inMemory: isStoredInMemoryOnly, allowsSave: true,
      groupContainer: .automatic, cloudKitDatabase: .automatic)
  }

  /// Creates a configuration in the default place, or in memory.
  ///
  /// - Parameters:
  ///   - name: Name of the configuration and of its file; nil for `default`.
  ///   - schema: The entities that it keeps; nil for all of the container's.
  ///   - isStoredInMemoryOnly: Whether nothing is written to a file.
  ///   - allowsSave: Whether models may be saved.
  ///   - groupContainer: Which group of applications shares the store: here a directory.
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

  /// Creates a configuration in a given file.
  ///
  /// - Parameters:
  ///   - name: Name of the configuration; nil for that of the file.
  ///   - schema: The entities that it keeps; nil for all of the container's.
  ///   - url: The file; its directory is made if there is none.
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

  /// Checks that the name can be a file's.
  ///
  /// - Throws: `SwiftDataError.configurationFileNameContainsInvalidCharacters` or `.configurationFileNameTooLong`.
  public func validate() throws {
    if name.contains("/") || name.contains("\0") {
      throw SwiftDataError(
        .configurationFileNameContainsInvalidCharacters, "'\(name)' contains a '/' or a NUL.")
    }
    // Beside the store lie files with the endings -wal and -shm.
    guard "\(name).store-wal".utf8.count <= 255 else {
      throw SwiftDataError(
        .configurationFileNameTooLong,
        "'\(name.prefix(40))…' has \(name.utf8.count) bytes; a file's name may have 245.")
    }
  }

  /// Whether both keep the same in the same place.
  public static func == (lhs: ModelConfiguration, rhs: ModelConfiguration) -> Bool {
    lhs.name == rhs.name && lhs.url == rhs.url && lhs.schema == rhs.schema
      && lhs.allowsSave == rhs.allowsSave && lhs.isStoredInMemoryOnly == rhs.isStoredInMemoryOnly
      && lhs.groupContainer == rhs.groupContainer && lhs.cloudKitDatabase == rhs.cloudKitDatabase
  }

  /// Hashes name and place.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(url)
  }
}

extension ModelConfiguration: CustomDebugStringConvertible {
  /// Name and place.
  public var debugDescription: String {
    "ModelConfiguration(\(name), \(isStoredInMemoryOnly ? "in memory" : url.path), allowsSave: \(allowsSave))"
  }
}
