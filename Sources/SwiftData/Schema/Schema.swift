/// The entities that a container stores, created from model classes or manually.
///
/// Immutable once a container was created with it; then it may be read on any thread.
public final class Schema: Codable, Hashable, @unchecked Sendable {
  // Unchecked: entities may be edited until the schema is used, by one thread, like those of Apple's class.

  /// The entities.
  public let entities: [Schema.Entity]
  /// The entities by name.
  public let entitiesByName: [String: Schema.Entity]
  /// The schema's version; written into stores as a label.
  public let version: Schema.Version
  /// Version of the form in which the schema is saved.
  public let encodingVersion: Schema.Version

  /// Version of the form in which schemas are saved.
  public static let schemaEncodingVersion = Schema.Version(1, 0, 0)

  init(entities: [Schema.Entity], version: Schema.Version, encodingVersion: Schema.Version) {
    self.entities = entities
    entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    self.version = version
    self.encodingVersion = encodingVersion
  }

  /// Creates a schema without entities.
  public convenience init() {
    self.init(entities: [], version: Version(1, 0, 0), encodingVersion: Self.schemaEncodingVersion)
  }

  /// Creates a schema of manually created entities.
  public convenience init(_ entities: Schema.Entity..., version: Schema.Version = Version(1, 0, 0)) {
    self.init(entities: entities, version: version, encodingVersion: Self.schemaEncodingVersion)
  }

  /// Creates a schema of model classes and all classes reachable through their relationships. Subclasses are
  /// not found; list them.
  ///
  /// Traps for two classes of the same name.
  public convenience init(
    _ types: [any PersistentModel.Type], version: Schema.Version = Version(1, 0, 0)
  ) {
    self.init(
      entities: SchemaBuilder.entities(of: types), version: version,
      encodingVersion: Self.schemaEncodingVersion)
  }

  /// Creates a schema of model classes and all classes reachable through their relationships.
  public convenience init(
    _ types: any PersistentModel.Type..., version: Schema.Version = Version(1, 0, 0)
  ) {
    self.init(types, version: version)
  }

  /// Creates the schema of one version.
  public convenience init(versionedSchema: any VersionedSchema.Type) {
    self.init(versionedSchema.models, version: versionedSchema.versionIdentifier)
  }

  /// The entity of a class; nil if the schema lacks it.
  public func entity<T>(for type: T.Type) -> Schema.Entity? where T: PersistentModel {
    entitiesByName[Self.entityName(for: type)]
  }

  /// Name of the entity of a class: the class's own name, without module and enclosing types.
  public static func entityName<T>(for type: T.Type) -> String where T: PersistentModel {
    ModelClass.name(of: type)
  }

  /// Whether both have equal entities and the same version.
  public static func == (lhs: Schema, rhs: Schema) -> Bool {
    lhs === rhs || lhs.version == rhs.version && Set(lhs.entities) == Set(rhs.entities)
  }

  /// Hashes the names of the entities.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(version)
    hasher.combine(Set(entitiesByName.keys))
  }
}

extension Schema: CustomDebugStringConvertible {
  /// Version and entities.
  public var debugDescription: String {
    "Schema(\(version), entities: [\(entities.map(\.name).joined(separator: ", "))])"
  }
}
