extension Schema {
  /// A property with a value.
  ///
  /// May be edited until its schema is used.
  public class Attribute: SchemaProperty, @unchecked Sendable {
    // Unchecked: edited by one thread before the schema is used, like Apple's class.

    /// Name of the property.
    public var name: String
    /// Name that it had in the version of the schema before.
    public var originalName: String
    /// The options of `@Attribute`.
    public var options: [Schema.Attribute.Option]
    /// Type of its values.
    public var valueType: any Any.Type
    /// The property's initial value when the schema was created.
    public var defaultValue: Any?
    /// Text that changes the version hash.
    public var hashModifier: String?

    /// Creates the settings of `@Attribute` for a property.
    public init(
      _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
    ) {
      name = ""
      self.originalName = originalName ?? ""
      self.options = options
      valueType = Any.self
      self.hashModifier = hashModifier
    }

    /// Creates an attribute by hand.
    public init(
      name: String, originalName: String? = nil, options: [Schema.Attribute.Option] = [],
      valueType: any Any.Type, defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
      self.name = name
      self.originalName = originalName ?? name
      self.options = options
      self.valueType = valueType
      self.defaultValue = defaultValue
      self.hashModifier = hashModifier
    }

    /// Whether a value transformer encodes the values.
    public var isTransformable: Bool { transformerName != nil }
    /// Whether the whole value is stored in its Codable form.
    public var isCodable: Bool { options.contains(.codable) }
    /// True.
    public var isAttribute: Bool { true }
    /// False.
    public var isRelationship: Bool { false }
    /// Whether the value is tracked and not stored.
    public var isTransient: Bool { options.contains(.ephemeral) }
    /// Whether nil is a value.
    public var isOptional: Bool { valueType is any OptionalType.Type }
    /// Whether no two models have the same value.
    public var isUnique: Bool { options.contains(.unique) }

    /// Name of the value transformer; nil without one.
    var transformerName: String? {
      for option in options { if case .transformable(let name) = option.kind { return name } }
      return nil
    }

    // MARK: Coding

    enum CodingKeys: String, CodingKey { case name, originalName, options, valueType, hashModifier }

    /// Decodes an attribute; a type that the program lacks becomes `Any`.
    public required init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      name = try container.decode(String.self, forKey: .name)
      originalName = try container.decode(String.self, forKey: .originalName)
      options = try container.decode([Option].self, forKey: .options)
      valueType = TypeName.type(try container.decode(String.self, forKey: .valueType))
      hashModifier = try container.decodeIfPresent(String.self, forKey: .hashModifier)
    }

    /// Encodes all but the default value.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(name, forKey: .name)
      try container.encode(originalName, forKey: .originalName)
      try container.encode(options, forKey: .options)
      try container.encode(TypeName.text(valueType), forKey: .valueType)
      try container.encodeIfPresent(hashModifier, forKey: .hashModifier)
    }

    /// Whether both are equal, ignoring default values.
    public static func == (lhs: Attribute, rhs: Attribute) -> Bool {
      lhs === rhs
        || lhs.name == rhs.name && lhs.originalName == rhs.originalName && lhs.options == rhs.options
          && ObjectIdentifier(lhs.valueType) == ObjectIdentifier(rhs.valueType)
          && lhs.hashModifier == rhs.hashModifier
    }

    /// Hashes name and type.
    public func hash(into hasher: inout Hasher) {
      hasher.combine(name)
      hasher.combine(ObjectIdentifier(valueType))
    }
  }

  /// An attribute whose values consist of several elements.
  public final class CompositeAttribute: Schema.Attribute, @unchecked Sendable {
    /// The elements.
    public var properties: [Schema.Attribute] = []

    /// Creates a composite attribute without elements.
    public override init(
      name: String, originalName: String? = nil, options: [Schema.Attribute.Option] = [],
      valueType: any Any.Type, defaultValue: Any? = nil, hashModifier: String? = nil
    ) {
      super.init(
        name: name, originalName: originalName, options: options, valueType: valueType,
        defaultValue: defaultValue, hashModifier: hashModifier)
    }

    private enum _ElementKeys: String, CodingKey { case properties }

    /// Decodes the attribute with its elements.
    public required init(from decoder: any Decoder) throws {
      try super.init(from: decoder)
      let container = try decoder.container(keyedBy: _ElementKeys.self)
      properties = try container.decode([PropertyBox].self, forKey: .properties).compactMap {
        $0.property as? Schema.Attribute
      }
    }

    /// Encodes the attribute with its elements.
    public override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.container(keyedBy: _ElementKeys.self)
      try container.encode(properties.map { PropertyBox($0) }, forKey: .properties)
    }
  }
}

extension Schema.Attribute: CustomDebugStringConvertible {
  /// Name, type and options.
  public var debugDescription: String { "Attribute(\(name): \(valueType), options: \(options))" }
}
