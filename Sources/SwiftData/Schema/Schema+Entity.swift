extension Schema {
  /// The stored form of a model class: a name and properties.
  ///
  /// May be edited until its schema is used.
  public final class Entity: Codable, Hashable, @unchecked Sendable {
    // Unchecked: edited by one thread before the schema is used, as Apple's.

    /// Name of the entity.
    public var name: String
    /// The properties that the entity doesn't inherit, attributes and relationships.
    public var storedProperties: [any SchemaProperty] = []
    /// Names of the properties of each combination with unique values.
    public var uniquenessConstraints: [[String]] = []
    /// Names of the properties of each index.
    public var indices: [[String]] = []
    /// Positions of the spatial indexes.
    var spatialIndices: Set<Int> = []
    /// The entity that this one inherits from.
    public var superentity: Schema.Entity? {
      get { _superentity }
      set {
        _superentity = newValue
        if let newValue { _superentityName = newValue.name }
      }
    }
    private weak var _superentity: Schema.Entity?
    private var _superentityName: String?
    /// The entities that inherit from this one.
    public var subentities: Set<Schema.Entity> = []
    /// The class of the entity; nil for an entity created manually.
    var modelType: (any PersistentModel.Type)?

    /// Creates an entity without properties.
    public init(_ name: String) { self.name = name }

    /// Creates an entity with properties.
    public convenience init(_ name: String, properties: any SchemaProperty...) {
      self.init(name)
      storedProperties = properties
    }

    /// Creates an entity with properties that others inherit from.
    public convenience init(
      _ name: String, subentities: Schema.Entity..., properties: any SchemaProperty...
    ) {
      self.init(name)
      storedProperties = properties
      self.subentities = Set(subentities)
      for entity in subentities { entity.superentity = self }
    }

    /// Name of the entity that this one inherits from.
    public var superentityName: String? {
      get { _superentity?.name ?? _superentityName }
      set { _superentityName = newValue }
    }

    // MARK: Properties

    /// The properties, inherited ones first.
    public var properties: [any SchemaProperty] {
      get { inheritedProperties + storedProperties }
      set {
        let inherited = Set(inheritedProperties.map(\.name))
        storedProperties = newValue.filter { !inherited.contains($0.name) }
      }
    }

    /// The properties of the entities that this one inherits from.
    public var inheritedProperties: [any SchemaProperty] {
      get { superentity?.properties ?? [] }
      set { superentity?.properties = newValue }
    }

    /// The inherited properties by name.
    public var inheritedPropertiesByName: [String: any SchemaProperty] {
      get { Self._byName(inheritedProperties) }
      set { inheritedProperties = Array(newValue.values) }
    }

    /// The entity's own properties by name.
    public var storedPropertiesByName: [String: any SchemaProperty] {
      get { Self._byName(storedProperties) }
      set { storedProperties = newValue.values.sorted { $0.name < $1.name } }
    }

    /// The attributes, inherited ones included.
    public var attributes: Set<Schema.Attribute> {
      get { Set(properties.compactMap { $0 as? Schema.Attribute }) }
      set { _replace(newValue.sorted { $0.name < $1.name }) { $0 is Schema.Attribute } }
    }

    /// The attributes by name.
    public var attributesByName: [String: Schema.Attribute] {
      get { Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
      set { attributes = Set(newValue.values) }
    }

    /// The relationships, inherited ones included.
    public var relationships: Set<Schema.Relationship> {
      get { Set(properties.compactMap { $0 as? Schema.Relationship }) }
      set { _replace(newValue.sorted { $0.name < $1.name }) { $0 is Schema.Relationship } }
    }

    /// The relationships by name.
    public var relationshipsByName: [String: Schema.Relationship] {
      get { Dictionary(relationships.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) }
      set { relationships = Set(newValue.values) }
    }

    private func _replace(
      _ new: [any SchemaProperty], _ isOfTheKind: (any SchemaProperty) -> Bool
    ) {
      let inherited = Set(inheritedProperties.map(\.name))
      storedProperties =
        storedProperties.filter { !isOfTheKind($0) } + new.filter { !inherited.contains($0.name) }
    }

    private static func _byName(_ properties: [any SchemaProperty]) -> [String: any SchemaProperty] {
      Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: Coding

    private enum _Keys: String, CodingKey {
      case name, superentityName, properties, uniquenessConstraints, indices, spatialIndices, modelType
    }

    /// Decodes an entity; the schema connects its relatives.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: _Keys.self)
      name = try container.decode(String.self, forKey: .name)
      _superentityName = try container.decodeIfPresent(String.self, forKey: .superentityName)
      storedProperties = try container.decode([PropertyBox].self, forKey: .properties).map(\.property)
      uniquenessConstraints = try container.decode([[String]].self, forKey: .uniquenessConstraints)
      indices = try container.decode([[String]].self, forKey: .indices)
      spatialIndices = try container.decode(Set<Int>.self, forKey: .spatialIndices)
      modelType = try container.decodeIfPresent(String.self, forKey: .modelType).flatMap {
        TypeName.type($0) as? any PersistentModel.Type
      }
    }

    /// Encodes the entity, its superentity by name.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: _Keys.self)
      try container.encode(name, forKey: .name)
      try container.encodeIfPresent(superentityName, forKey: .superentityName)
      try container.encode(storedProperties.map { PropertyBox($0) }, forKey: .properties)
      try container.encode(uniquenessConstraints, forKey: .uniquenessConstraints)
      try container.encode(indices, forKey: .indices)
      try container.encode(spatialIndices.sorted(), forKey: .spatialIndices)
      try container.encodeIfPresent(modelType.map { TypeName.text($0) }, forKey: .modelType)
    }

    /// Whether both have equal properties, constraints and indexes.
    public static func == (lhs: Entity, rhs: Entity) -> Bool {
      if lhs === rhs { return true }
      func content(_ entity: Entity) -> Set<AnyHashable> {
        Set(entity.storedProperties.map { AnyHashable($0) })
      }
      return lhs.name == rhs.name && lhs.superentityName == rhs.superentityName
        && content(lhs) == content(rhs)
        && Set(lhs.uniquenessConstraints) == Set(rhs.uniquenessConstraints) && lhs.indices == rhs.indices
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }
}

extension Schema.Entity: CustomDebugStringConvertible {
  /// Name and properties.
  public var debugDescription: String {
    "Entity(\(name), properties: [\(properties.map(\.name).joined(separator: ", "))])"
  }
}
