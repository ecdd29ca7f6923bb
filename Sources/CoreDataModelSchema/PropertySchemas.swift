/// A literal in a model file, as a default value or a limit, before its conversion to a Foundation type.
///
/// Dates are seconds since 2001-01-01 00:00 UTC. Decimals keep their text, to preserve every digit.
package enum SchemaLiteral: Sendable, Hashable {
  case integer(Int64)
  case double(Double)
  case decimal(String)
  case boolean(Bool)
  case string(String)
  case date(Double)
  case data([UInt8])
  case uuid(String)
  case uri(String)
}

/// The traits that attributes, relationships and fetched properties share.
package struct PropertyTraits: Sendable, Hashable {
  package var name: String
  package var isOptional: Bool
  package var isTransient: Bool
  package var versionHashModifier: String?
  package var renamingIdentifier: String?
  package var userInfo: [String: String]

  package init(
    name: String, isOptional: Bool = true, isTransient: Bool = false, versionHashModifier: String? = nil,
    renamingIdentifier: String? = nil, userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.versionHashModifier = versionHashModifier
    self.renamingIdentifier = renamingIdentifier
    self.userInfo = userInfo
  }
}

/// Limits that the model editor offers for one attribute.
///
/// For numbers they bound the value, for strings the length in characters, for dates the moment.
package struct AttributeLimits: Sendable, Hashable {
  package var minimum: SchemaLiteral?
  package var maximum: SchemaLiteral?
  package var regularExpression: String?

  package init(
    minimum: SchemaLiteral? = nil, maximum: SchemaLiteral? = nil, regularExpression: String? = nil
  ) {
    self.minimum = minimum
    self.maximum = maximum
    self.regularExpression = regularExpression
  }

  package var isEmpty: Bool { minimum == nil && maximum == nil && regularExpression == nil }
}

/// A validation predicate that is not a plain limit, as text, with the message for a value that fails it.
package struct ValidationSchema: Sendable, Hashable {
  package var predicate: String
  package var warning: String

  package init(predicate: String, warning: String) {
    self.predicate = predicate
    self.warning = warning
  }
}

/// What stands for the value of an attribute in objects that a store has none of: unlike a default, not a value of new
/// objects, and in no model file.
package struct FallbackValue: Sendable, Hashable {
  /// The value that a migration writes; nil to leave null, which whoever reads it takes for the value.
  package var literal: SchemaLiteral?

  package init(_ literal: SchemaLiteral?) { self.literal = literal }
}

/// One attribute of an entity.
package struct AttributeSchema: Sendable, Hashable {
  package var traits: PropertyTraits
  package var type: AttributeType
  package var defaultValue: SchemaLiteral?
  package var fallback: FallbackValue?
  package var limits = AttributeLimits()
  package var validations: [ValidationSchema] = []
  package var usesScalarValueType = false
  package var valueTransformerName: String?
  /// Class that a transformable attribute's values belong to.
  package var customClassName: String?
  package var allowsExternalBinaryDataStorage = false
  package var preservesValueInHistoryOnDeletion = false
  package var allowsCloudEncryption = false
  /// Text of the derivation expression; not nil for a derived attribute.
  package var derivationExpression: String?
  /// Name of the composite attribute type that the model defines; not nil when `type` is `.composite`.
  package var compositeName: String?
  /// Elements of a composite attribute in declared order.
  package var elements: [AttributeSchema] = []
  /// Whether the attribute is indexed the older way (`indexed="YES"`).
  package var isIndexed = false
  package var isIndexedBySpotlight = false

  package var name: String { traits.name }
  package var isOptional: Bool { traits.isOptional }
  package var isTransient: Bool { traits.isTransient }
  package var isDerived: Bool { derivationExpression != nil }

  /// The value that a migration gives to objects without one; nil for null.
  package var migrationDefault: SchemaLiteral? { defaultValue ?? fallback?.literal }

  /// Whether a required attribute may lack a value after a migration.
  package var toleratesMissingValues: Bool { isOptional || defaultValue != nil || fallback != nil }

  package init(traits: PropertyTraits, type: AttributeType, defaultValue: SchemaLiteral? = nil) {
    self.traits = traits
    self.type = type
    self.defaultValue = defaultValue
  }
}

/// One relationship of an entity.
package struct RelationshipSchema: Sendable, Hashable {
  package var traits: PropertyTraits
  package var destination: String
  package var inverse: String?
  package var minCount: Int
  /// 1 for to-one, 0 for to-many without limit.
  package var maxCount: Int
  package var deleteRule: DeleteRule
  package var isOrdered: Bool

  package var name: String { traits.name }
  package var isOptional: Bool { traits.isOptional }
  package var isToMany: Bool { maxCount != 1 }

  /// Whether the relationship is its own inverse, given the name of the entity that declares it.
  package func isOwnInverse(in entity: String) -> Bool { inverse == name && destination == entity }

  package init(
    traits: PropertyTraits, destination: String, inverse: String?, minCount: Int = 0, maxCount: Int = 1,
    deleteRule: DeleteRule = .nullify, isOrdered: Bool = false
  ) {
    self.traits = traits
    self.destination = destination
    self.inverse = inverse
    self.minCount = minCount
    self.maxCount = maxCount
    self.deleteRule = deleteRule
    self.isOrdered = isOrdered
  }
}
