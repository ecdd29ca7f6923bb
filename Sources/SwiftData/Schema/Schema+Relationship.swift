extension Schema {
  /// A property that leads to other models.
  ///
  /// May be edited until its schema is used.
  public final class Relationship: SchemaProperty, @unchecked Sendable {
    // Unchecked: edited by one thread before the schema is used, as Apple's.

    /// Name of the property.
    public var name = ""
    /// Name that it had in the version of the schema before.
    public var originalName: String
    /// What `@Relationship` says.
    public var options: [Schema.Relationship.Option]
    /// Type of the property.
    public var valueType: any Any.Type = Any.self
    /// Key path of the property.
    public var keypath: AnyKeyPath?
    /// Name of the entity that it leads to.
    public var destination = ""
    /// Name of the property that leads back; nil where none does.
    public var inverseName: String?
    /// Key path of the property that leads back.
    public var inverseKeyPath: AnyKeyPath?
    /// What happens to the models at the other end when the model is deleted.
    public var deleteRule: Schema.Relationship.DeleteRule
    /// Least number of models.
    public var minimumModelCount: Int?
    /// Largest number of models; 0 for any.
    public var maximumModelCount: Int?
    /// Text that makes the version hash differ though nothing else does.
    public var hashModifier: String?

    /// Creates what `@Relationship` says of a property.
    public init(
      _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
      minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
      inverse: AnyKeyPath? = nil, hashModifier: String? = nil
    ) {
      self.options = options
      self.deleteRule = deleteRule
      self.minimumModelCount = minimumModelCount
      self.maximumModelCount = maximumModelCount
      self.originalName = originalName ?? ""
      inverseKeyPath = inverse
      self.hashModifier = hashModifier
    }

    /// Whether there is at most one model at the other end.
    public var isToOneRelationship: Bool { !(valueType is any RelationshipCollection.Type) }
    /// False.
    public var isAttribute: Bool { false }
    /// True.
    public var isRelationship: Bool { true }
    /// False.
    public var isTransient: Bool { false }
    /// Whether nil is a value.
    public var isOptional: Bool { valueType is any OptionalType.Type }
    /// Whether no two models lead to the same one.
    public var isUnique: Bool { options.contains(.unique) }

    /// What happens to the models at the other end when a model is deleted.
    public enum DeleteRule: String, Codable, Hashable, Sendable {
      /// Nothing: they keep a reference to a model that is gone.
      case noAction
      /// They let go of the model.
      case nullify
      /// They are deleted as well.
      case cascade
      /// As long as there are any, the deletion can't be saved.
      case deny
    }

    /// What `@Relationship` can say of a relationship.
    public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
      private let _name: String
      /// No two models lead to the same one.
      public static var unique: Option { Option(_name: "unique") }
      /// The option as it is written.
      public var debugDescription: String { ".\(_name)" }
    }

    // MARK: Coding

    private enum _Keys: String, CodingKey {
      case name, originalName, options, valueType, destination, inverseName, deleteRule, minimumModelCount,
        maximumModelCount, hashModifier
    }

    /// Decodes a relationship, without key paths.
    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: _Keys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      valueType = TypeName.type(try container.decode(String.self, forKey: .valueType))
      destination = try container.decode(String.self, forKey: .destination)
      inverseName = try container.decodeIfPresent(String.self, forKey: .inverseName)
      deleteRule = try container.decode(DeleteRule.self, forKey: .deleteRule)
      minimumModelCount = try container.decodeIfPresent(Int.self, forKey: .minimumModelCount)
      maximumModelCount = try container.decodeIfPresent(Int.self, forKey: .maximumModelCount)
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
    }

    /// Encodes all but the key paths.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: _Keys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(TypeName.text(valueType), forKey: .valueType)
      try container.encode(destination, forKey: .destination)
      try container.encodeIfPresent(inverseName, forKey: .inverseName)
      try container.encode(deleteRule, forKey: .deleteRule)
      try container.encodeIfPresent(minimumModelCount, forKey: .minimumModelCount)
      try container.encodeIfPresent(maximumModelCount, forKey: .maximumModelCount)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
    }

    /// Whether both say the same, key paths aside.
    public static func == (lhs: Relationship, rhs: Relationship) -> Bool {
      lhs === rhs
        || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.options == rhs.options
          && ObjectIdentifier(lhs.valueType) == ObjectIdentifier(rhs.valueType)
          && lhs.destination == rhs.destination && lhs.inverseName == rhs.inverseName
          && lhs.deleteRule == rhs.deleteRule && lhs.minimumModelCount == rhs.minimumModelCount
          && lhs.maximumModelCount == rhs.maximumModelCount && lhs.hashModifier == rhs.hashModifier
    }

    /// Hashes name and destination.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(destination)
    }
  }
}

extension Schema.Relationship: CustomDebugStringConvertible {
  /// Name, destination and inverse.
  public var debugDescription: String {
    "Relationship(\(name) -> \(destination), inverse: \(inverseName ?? "none"), deleteRule: \(deleteRule))"
  }
}
