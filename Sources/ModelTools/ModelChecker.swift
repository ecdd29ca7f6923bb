import ModelCodegen
import ModelSchema

/// Something in a model that is wrong, or likely to be.
struct ModelFinding: Sendable, Hashable {
  enum Severity: String, Sendable { case error, warning }

  let severity: Severity
  let entity: String
  let property: String?
  let message: String
}

/// Looks for what Xcode warns of, and for what the engine would refuse.
struct ModelChecker {
  private let _schema: ModelSchema
  private let _entities: [String: EntitySchema]
  private(set) var findings: [ModelFinding] = []

  init(_ schema: ModelSchema) {
    _schema = schema
    _entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    do {
      _ = try ModelLayout(schema)
    } catch let error as ModelLayoutError {
      findings.append(
        ModelFinding(severity: .error, entity: error.entity, property: error.property, message: error.reason))
    } catch {
      findings.append(ModelFinding(severity: .error, entity: "", property: nil, message: "\(error)"))
    }
    for entity in schema.entities { _check(entity) }
  }

  private mutating func _warn(_ entity: EntitySchema, _ property: String? = nil, _ message: String) {
    findings.append(ModelFinding(severity: .warning, entity: entity.name, property: property, message: message))
  }

  private mutating func _check(_ entity: EntitySchema) {
    if !(entity.name.first?.isUppercase ?? false) { _warn(entity, nil, "entity names begin with a capital letter") }
    if entity.isAbstract, !_schema.entities.contains(where: { $0.parent == entity.name }) {
      _warn(entity, nil, "abstract, but no entity inherits from it: it can have no objects")
    }
    if entity.attributes.isEmpty, entity.relationships.isEmpty, entity.parent == nil {
      _warn(entity, nil, "has no properties")
    }
    for attribute in entity.attributes { _check(attribute, entity) }
    for relationship in entity.relationships { _check(relationship, entity) }
    for index in entity.indexes {
      for case let property? in index.elements.map(\.property) where !_has(property, entity) {
        _warn(entity, nil, "index '\(index.name)' names '\(property)', which is no property of the entity")
      }
    }
  }

  private func _has(_ property: String, _ entity: EntitySchema) -> Bool {
    var seen: Set<String> = []
    var next: EntitySchema? = entity
    while let current = next, seen.insert(current.name).inserted {
      if current.attributes.contains(where: { $0.name == property })
        || current.relationships.contains(where: { $0.name == property })
      {
        return true
      }
      next = current.parent.flatMap { _entities[$0] }
    }
    return false
  }

  private mutating func _checkName(_ traits: PropertyTraits, _ entity: EntitySchema) {
    if ReservedNames.members.contains(traits.name) {
      _warn(entity, traits.name, "every managed object has a member '\(traits.name)'; choose another name")
    }
    if traits.name.first?.isUppercase ?? false { _warn(entity, traits.name, "property names begin with a small letter") }
  }

  private mutating func _check(_ attribute: AttributeSchema, _ entity: EntitySchema) {
    _checkName(attribute.traits, entity)
    let name = attribute.name
    if !attribute.isOptional, attribute.defaultValue == nil, !attribute.isTransient, !attribute.isDerived {
      _warn(entity, name, "not optional and without default: adding it to existing data can't be inferred")
    }
    if attribute.isOptional, attribute.usesScalarValueType {
      _warn(entity, name, "optional but scalar: the class cannot tell nil from zero")
    }
    if attribute.type == .transformable, attribute.valueTransformerName == nil {
      _warn(entity, name, "transformable without a transformer; name one, NSSecureUnarchiveFromData for instance")
    }
    if let minimum = attribute.limits.minimum?.number, let maximum = attribute.limits.maximum?.number,
      minimum > maximum
    {
      _warn(entity, name, "its minimum is greater than its maximum: no value is valid")
    }
    guard let value = attribute.defaultValue?.number ?? attribute.defaultValue?.length else { return }
    if let minimum = attribute.limits.minimum?.number, value < minimum {
      _warn(entity, name, "its default value is less than its minimum")
    }
    if let maximum = attribute.limits.maximum?.number, value > maximum {
      _warn(entity, name, "its default value is greater than its maximum")
    }
  }

  private mutating func _check(_ relationship: RelationshipSchema, _ entity: EntitySchema) {
    _checkName(relationship.traits, entity)
    let name = relationship.name
    if relationship.inverse == nil { _warn(entity, name, "has no inverse: deletions leave it pointing to nothing") }
    if relationship.deleteRule == .noAction {
      _warn(entity, name, "its delete rule is No Action, which leaves the other end pointing to nothing")
    }
    if relationship.isOrdered, !relationship.isToMany { _warn(entity, name, "ordered, but to-one") }
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      _warn(entity, name, "its minimum count is greater than its maximum count")
    }
    if !relationship.isOptional, let inverse = _entities[relationship.destination]?.relationships
      .first(where: { $0.name == relationship.inverse }), !inverse.isOptional, inverse.deleteRule == .nullify
    {
      _warn(entity, name, "required, but deleting the other end sets it to nil: the save will fail; cascade, or deny")
    }
  }
}

extension SchemaLiteral {
  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value), .date(let value): value
    case .decimal(let text): Double(text)
    default: nil
    }
  }

  /// Limits of a string bound its length.
  fileprivate var length: Double? {
    if case .string(let text) = self { Double(text.count) } else { nil }
  }
}
