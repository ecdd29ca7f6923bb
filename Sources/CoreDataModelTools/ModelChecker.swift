import CoreDataModelCodegen
import CoreDataModelSchema

/// Finds problems that Xcode warns about, and those for which the engine rejects a model.
struct ModelChecker {
  private let _entities: [String: EntitySchema]
  /// Names of the entities that others inherit from.
  private let _parents: Set<String>
  private(set) var findings: [ModelFinding] = []

  init(_ schema: ModelSchema) {
    _entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    _parents = Set(schema.entities.compactMap(\.parent))
    findings = StructureChecker(schema).findings
    do {
      _ = try ModelLayout(schema)
    } catch let error as ModelLayoutError {
      // The engine stops at the first error, which the checks above mostly find.
      if findings.isEmpty {
        findings.append(
          ModelFinding(
            .unusable, entity: error.entity, property: error.property, message: error.reason))
      }
    } catch {
      findings.append(ModelFinding(.unusable, entity: "", message: "\(error)"))
    }
    for entity in schema.entities { _check(entity) }
  }

  private mutating func _warn(
    _ code: ModelFinding.Code, _ entity: EntitySchema, _ property: String? = nil, _ message: String
  ) {
    findings.append(ModelFinding(code, entity: entity.name, property: property, message: message))
  }

  private mutating func _check(_ entity: EntitySchema) {
    if !(entity.name.first?.isUppercase ?? false) {
      _warn(.entityName, entity, nil, "entity names begin with a capital letter")
    }
    if entity.isAbstract, !_parents.contains(entity.name) {
      _warn(
        .childlessAbstract, entity, nil, "abstract, but no entity inherits from it: it can have no objects")
    }
    if entity.attributes.isEmpty, entity.relationships.isEmpty, entity.parent == nil {
      _warn(.emptyEntity, entity, nil, "has no properties")
    }
    for attribute in entity.attributes { _check(attribute, entity) }
    for relationship in entity.relationships { _check(relationship, entity) }
    _checkSpelling(entity)
    _checkSorting(entity)
  }

  /// SQLite treats names that differ only by case as equal, and people confuse them.
  private mutating func _checkSpelling(_ entity: EntitySchema) {
    var spellings: [String: String] = [:]
    for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
      guard let other = spellings.updateValue(name, forKey: name.lowercased()), other != name else {
        continue
      }
      _warn(
        .alikeNames, entity, name, "differs from '\(other)' by case only; choose names that can be told apart"
      )
    }
  }

  /// Properties in an index or a constraint that cannot be sorted.
  private mutating func _checkSorting(_ entity: EntitySchema) {
    let attributes = Dictionary(
      entity.attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let uses =
      entity.indexes.flatMap { index in
        index.elements.compactMap { $0.property.map { ("index '\(index.name)'", $0) } }
      }
      + entity.uniquenessConstraints.joined().map { ("a uniqueness constraint", $0) }
    for (user, name) in uses {
      guard let attribute = attributes[name] else { continue }
      if attribute.isTransient {
        _warn(
          .indexedTransient, entity, name, "\(user) names it, but it is transient, so that no store has it")
      } else if [.binaryData, .transformable, .composite, .objectID].contains(attribute.type.form) {
        _warn(
          .indexedUnordered, entity, name,
          "\(user) names it, but values of type \(attribute.type.fileName) have no order")
      }
    }
  }

  private mutating func _checkName(_ traits: PropertyTraits, _ entity: EntitySchema) {
    if ReservedNames.members.contains(traits.name) {
      _warn(
        .reservedName, entity, traits.name,
        "every managed object has a member '\(traits.name)'; choose another name")
    }
    if traits.name.first?.isUppercase ?? false {
      _warn(.propertyName, entity, traits.name, "property names begin with a small letter")
    }
  }

  private mutating func _check(_ attribute: AttributeSchema, _ entity: EntitySchema) {
    _checkName(attribute.traits, entity)
    let name = attribute.name
    if !attribute.isOptional, attribute.defaultValue == nil, !attribute.isTransient, !attribute.isDerived {
      _warn(
        .noDefault, entity, name,
        "not optional and without default: adding it to existing data can't be inferred")
    }
    if attribute.isOptional, attribute.usesScalarValueType {
      _warn(.optionalScalar, entity, name, "optional but scalar: the class cannot tell nil from zero")
    }
    if attribute.type == .transformable, attribute.valueTransformerName == nil {
      _warn(
        .noTransformer, entity, name,
        "transformable without a transformer; name one, NSSecureUnarchiveFromData for instance")
    }
    if let minimum = attribute.limits.minimum?._number, let maximum = attribute.limits.maximum?._number,
      minimum > maximum
    {
      _warn(.emptyRange, entity, name, "its minimum is greater than its maximum: no value is valid")
    }
    guard let value = attribute.defaultValue?._number ?? attribute.defaultValue?._length else { return }
    if let minimum = attribute.limits.minimum?._number, value < minimum {
      _warn(.defaultOutOfRange, entity, name, "its default value is less than its minimum")
    }
    if let maximum = attribute.limits.maximum?._number, value > maximum {
      _warn(.defaultOutOfRange, entity, name, "its default value is greater than its maximum")
    }
  }

  private mutating func _check(_ relationship: RelationshipSchema, _ entity: EntitySchema) {
    _checkName(relationship.traits, entity)
    let name = relationship.name
    if relationship.inverse == nil {
      _warn(.noInverse, entity, name, "has no inverse: deletions leave it pointing to nothing")
    }
    if relationship.deleteRule == .noAction {
      _warn(
        .noAction, entity, name,
        "its delete rule is No Action, which leaves the other end pointing to nothing")
    }
    if relationship.isOrdered, !relationship.isToMany {
      _warn(.orderedToOne, entity, name, "ordered, but to-one")
    }
    if relationship.maxCount > 0, relationship.minCount > relationship.maxCount {
      _warn(.emptyCount, entity, name, "its minimum count is greater than its maximum count")
    }
    if !relationship.isOptional,
      let inverse = _entities[relationship.destination]?.relationships
        .first(where: { $0.name == relationship.inverse }), !inverse.isOptional,
      inverse.deleteRule == .nullify
    {
      _warn(
        .requiredNullify, entity, name,
        "required, but deleting the other end sets it to nil: the save will fail; cascade, or deny")
    }
  }
}

extension SchemaLiteral {
  fileprivate var _number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value), .date(let value): value
    case .decimal(let text): Double(text)
    default: nil
    }
  }

  /// Limits of a string bound its length.
  fileprivate var _length: Double? {
    if case .string(let text) = self { Double(text.count) } else { nil }
  }
}
