extension Schema {
  /// A property that refers to other models.
  ///
  /// May be edited until its schema is used.
  public final class Relationship: SchemaProperty, @unchecked Sendable {
    // Unchecked: edited by one thread before the schema is used, as Apple's.

    /// Name of the property.
    public var name = ""
    /// Name that it had in the version of the schema before.
    public var originalName: String
    /// The options of `@Relationship`.
    public var options: [Schema.Relationship.Option]
    /// Type of the property.
    public var valueType: any Any.Type = Any.self
    /// Key path of the property.
    public var keypath: AnyKeyPath?
    /// Name of the destination entity.
    public var destination = ""
    /// Name of the inverse; nil without one.
    public var inverseName: String?
    /// Key path of the inverse.
    public var inverseKeyPath: AnyKeyPath?
    /// The effect of deleting the model on the models at the other end.
    public var deleteRule: Schema.Relationship.DeleteRule
    /// Least number of models.
    public var minimumModelCount: Int?
    /// Largest number of models; 0 for any.
    public var maximumModelCount: Int?
    /// Text that changes the version hash.
    public var hashModifier: String?

    /// Creates the settings of `@Relationship` for a property.
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
    /// Whether each destination may belong to one model only.
    public var isUnique: Bool { options.contains(.unique) }

    /// The effect of deleting a model on the models at the other end.
    public enum DeleteRule: String, Codable, Hashable, Sendable {
      /// No effect: they keep a reference to the deleted model.
      case noAction
      /// Their references to the model are cleared.
      case nullify
      /// They are deleted as well.
      case cascade
      /// The deletion can't be saved as long as there are any.
      case deny
    }

    /// An option of `@Relationship`.
    public struct Option: Codable, Hashable, CustomDebugStringConvertible, Sendable {
      private let _name: String
      /// Each destination may belong to one model only.
      public static var unique: Option { Option(_name: "unique") }
      /// The option in source form.
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

    /// Whether both are equal, ignoring key paths.
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
