import CoreData

/// One store of a container: a configuration and its entities.
struct StoreParts {
  let configuration: ModelConfiguration
  let entities: Set<String>

  /// Returns the stores of several configurations.
  ///
  /// - Throws: `SwiftDataError` for invalid file names, for two of the same name or location, and for an
  ///   entity that the schema lacks.
  static func of(_ configurations: [ModelConfiguration], _ schema: Schema) throws -> [StoreParts] {
    var names = Set<String>()
    var places = Set<String>()
    return try configurations.map { configuration in
      try configuration.validate()
      guard names.insert(configuration.name).inserted else {
        throw SwiftDataError(
          .duplicateConfiguration, "Two configurations have the name '\(configuration.name)'.")
      }
      if !configuration.isStoredInMemoryOnly {
        guard places.insert(configuration.place).inserted else {
          throw SwiftDataError(
            .duplicateConfiguration, "Two configurations have the file \(configuration.url.path).")
        }
      }
      let entities = Set((configuration.schema ?? schema).entitiesByName.keys)
      if let missing = entities.subtracting(schema.entitiesByName.keys).min() {
        throw SwiftDataError(
          .configurationSchemaNotFoundInContainerSchema,
          "The configuration '\(configuration.name)' has the entity '\(missing)', which the container's schema lacks."
        )
      }
      return StoreParts(configuration: configuration, entities: entities)
    }
  }

  /// Opens the store; creates its file and directory if necessary.
  func add(to coordinator: NSPersistentStoreCoordinator) throws {
    let description = NSPersistentStoreDescription(url: configuration.url)
    description.configuration = configuration.name
    description.isReadOnly = !configuration.allowsSave
    description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
    description.setOption(
      NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
    description.setOption(NSNumber(value: true), forKey: StoreOptions.lossFromKeptModel)
    if configuration.url.isFileURL, !configuration.isStoredInMemoryOnly, configuration.allowsSave {
      try FileManager.default.createDirectory(
        at: configuration.url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    try coordinator.addPersistentStore(
      ofType: configuration.storeType, configurationName: configuration.name, at: configuration.url,
      options: description.options)
  }
}

extension ModelConfiguration {
  /// The engine's type of the store: a schema of a PostgreSQL database if the URL specifies one, otherwise a
  /// file.
  var storeType: String {
    let scheme = url.scheme?.lowercased()
    return scheme == "postgresql" || scheme == "postgres" ? "PostgreSQL" : NSSQLiteStoreType
  }

  /// Identifies the location of the store.
  var place: String { url.isFileURL ? url.standardizedFileURL.path : url.absoluteString }

  /// Whether the store exists.
  var isThere: Bool {
    if url.isFileURL { return FileManager.default.fileExists(atPath: url.path) }
    let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: storeType, at: url)
    return metadata?[NSStoreModelVersionHashesKey] != nil
  }
}
