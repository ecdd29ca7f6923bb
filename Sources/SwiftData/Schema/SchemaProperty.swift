/// A property of an entity: an attribute or a relationship; or what is said of several properties.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
  /// Name of the property.
  var name: String { get set }
  /// Name that it had in the version of the schema before; its name unless said otherwise.
  var originalName: String { get set }
  /// Type of its values.
  var valueType: any Any.Type { get set }
  /// Whether it holds a value.
  var isAttribute: Bool { get }
  /// Whether it leads to other models.
  var isRelationship: Bool { get }
  /// Whether it isn't stored.
  var isTransient: Bool { get }
  /// Whether nil is a value.
  var isOptional: Bool { get }
  /// Whether no two models have the same value.
  var isUnique: Bool { get }
}

extension SchemaProperty {
  /// False unless the property says otherwise.
  public var isAttribute: Bool { false }
  /// False unless the property says otherwise.
  public var isRelationship: Bool { false }
  /// False unless the property says otherwise.
  public var isTransient: Bool { false }
  /// Whether the type of its values is optional.
  public var isOptional: Bool { valueType is any OptionalType.Type }
}

/// What `#Unique` and `#Index` say: groups of properties.
protocol PropertyGroups {
  var keyPathGroups: [[AnyKeyPath]] { get }
  /// For each group of an index whether it is spatial.
  var isSpatial: [Bool] { get }
  /// Whether equal values are refused.
  var isUnique: Bool { get }
}
