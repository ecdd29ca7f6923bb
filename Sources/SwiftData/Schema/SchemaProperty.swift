/// A property of an entity: an attribute or a relationship; or a declaration about several properties.
public protocol SchemaProperty: Decodable, Encodable, Hashable {
  /// Name of the property.
  var name: String { get set }
  /// Its name in the previous version of the schema; by default its name.
  var originalName: String { get set }
  /// Type of its values.
  var valueType: any Any.Type { get set }
  /// Whether it is an attribute.
  var isAttribute: Bool { get }
  /// Whether it is a relationship.
  var isRelationship: Bool { get }
  /// Whether it isn't stored.
  var isTransient: Bool { get }
  /// Whether nil is a value.
  var isOptional: Bool { get }
  /// Whether no two models have the same value.
  var isUnique: Bool { get }
}

extension SchemaProperty {
  /// False by default.
  public var isAttribute: Bool { false }
  /// False by default.
  public var isRelationship: Bool { false }
  /// False by default.
  public var isTransient: Bool { false }
  /// Whether the type of its values is optional.
  public var isOptional: Bool { valueType is any OptionalType.Type }
}

/// The declarations of `#Unique` and `#Index`: groups of properties.
protocol PropertyGroups {
  var keyPathGroups: [[AnyKeyPath]] { get }
  /// For each group of an index whether it is spatial.
  var isSpatial: [Bool] { get }
  /// Whether equal values are rejected.
  var isUnique: Bool { get }
}
