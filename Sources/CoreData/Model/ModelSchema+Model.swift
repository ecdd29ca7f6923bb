import CoreDataModelSchema
import Foundation

extension ModelSchema {
  /// Creates the plain-value form of a model.
  package init(_ model: NSManagedObjectModel) {
    self.init(model, entities: model.entities.map { EntitySchema($0) })
  }

  /// Creates the plain-value form of a model from existing plain-value entities.
  init(_ model: NSManagedObjectModel, entities: [EntitySchema]) {
    self.init(entities: entities)
    configurations = model.configurations.map { name in
      var configuration = ConfigurationSchema(
        name: name, entities: (model.entities(forConfigurationName: name) ?? []).map { $0.name ?? "" })
      configuration.usedWithCloudKit = model.cloudKitConfigurations.contains(name)
      return configuration
    }
    fetchRequests = model.templateNames.compactMap { model.templateSchema(forName: $0) }
    versionIdentifiers = model.versionIdentifiers.map { "\($0.base)" }.sorted()
    for entity in entities {
      for index in entity.attributes.indices where entity.attributes[index].compositeName != nil {
        _collect(entity.attributes[index])
      }
    }
  }

  private mutating func _collect(_ attribute: AttributeSchema) {
    guard let name = attribute.compositeName else { return }
    composites[name] = attribute.elements
    for element in attribute.elements { _collect(element) }
  }
}

extension EntitySchema {
  /// Creates the plain-value form of an entity: its own properties, without inherited ones.
  init(_ entity: NSEntityDescription) {
    self.init(name: entity.name ?? "", parent: entity.superentity?.name)
    className = entity.explicitClassName
    module = entity.module
    isAbstract = entity.isAbstract
    versionHashModifier = entity.versionHashModifier
    renamingIdentifier = entity.explicitRenamingIdentifier
    userInfo = _schemaUserInfo(entity.userInfo)
    uniquenessConstraints = entity.constraintNames
    compoundIndexes = entity.compoundIndexNames
    coreSpotlightDisplayNameExpression = entity.spotlightExpressionText
    indexes = entity.indexes.map { FetchIndexSchema($0) }
    for property in entity.ownProperties {
      switch property {
      case let attribute as NSAttributeDescription: attributes.append(AttributeSchema(attribute))
      case let relationship as NSRelationshipDescription:
        relationships.append(RelationshipSchema(relationship))
      case let fetched as NSFetchedPropertyDescription:
        fetchedProperties.append(
          FetchedPropertySchema(
            traits: PropertyTraits(fetched),
            request: fetched.requestSchema
              ?? FetchRequestSchema(name: "fetchedPropertyFetchRequest", entity: "")))
      default:
        // Unreachable except for unknown kinds: adding an expression to an entity traps.
        programmerError(
          "property '\(entity.name ?? "?").\(property.name)' is neither an attribute nor a relationship nor a fetched "
            + "property; use one of these classes")
      }
    }
  }
}

extension PropertyTraits {
  init(_ property: NSPropertyDescription) {
    self.init(
      name: property.name, isOptional: property.isOptional, isTransient: property.isTransient,
      versionHashModifier: property.versionHashModifier,
      renamingIdentifier: property.explicitRenamingIdentifier, userInfo: _schemaUserInfo(property.userInfo))
  }
}

extension AttributeSchema {
  /// Creates the plain-value form of an attribute. A default value that is not plain, as a transformable's,
  /// remains in the description.
  init(_ attribute: NSAttributeDescription) {
    let type = attribute.attributeType.schemaType
    self.init(traits: PropertyTraits(attribute), type: type)
    defaultValue = attribute.defaultValue.flatMap { SchemaLiteral($0, type: type) }
    if let explicit = attribute.explicitValidation {
      // Predicates set in code replace those of the model file.
      validations = explicit.predicates.enumerated().map { index, predicate in
        ValidationSchema(
          predicate: predicate.predicateText,
          warning: index < explicit.warnings.count ? "\(explicit.warnings[index])" : "")
      }
    } else {
      limits = attribute.limits
      validations = attribute.fileValidations
    }
    usesScalarValueType = attribute.usesScalarValueType
    valueTransformerName = attribute.valueTransformerName
    customClassName = attribute.customClassName
    allowsExternalBinaryDataStorage = attribute.allowsExternalBinaryDataStorage
    preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
    allowsCloudEncryption = attribute.allowsCloudEncryption
    isIndexed = attribute.indexedFlag
    isIndexedBySpotlight = attribute.isIndexedBySpotlight
    if let derived = attribute as? NSDerivedAttributeDescription {
      derivationExpression = derived.derivationText ?? ""
    }
    if let composite = attribute as? NSCompositeAttributeDescription {
      compositeName = composite.compositeName
      elements = composite.elements.map { AttributeSchema($0) }
    }
    if let value = attribute.fallbackValue { fallback = FallbackValue(SchemaLiteral(stored: value, self)) }
  }
}

extension RelationshipSchema {
  init(_ relationship: NSRelationshipDescription) {
    self.init(
      traits: PropertyTraits(relationship), destination: relationship.destinationEntity?.name ?? "",
      inverse: relationship.inverseRelationship?.name, minCount: relationship.minCount,
      maxCount: relationship.maxCount, deleteRule: DeleteRule(rawValue: relationship.deleteRule.rawValue)!,
      isOrdered: relationship.isOrdered)
  }
}

extension FetchIndexSchema {
  init(_ index: NSFetchIndexDescription) {
    let elements = index.elements.map { element -> Element in
      let isRTree = element.collationType == .rTree
      guard let computed = element.property as? NSExpressionDescription else {
        return Element(property: element.propertyName, isRTree: isRTree, isAscending: element.isAscending)
      }
      return Element(
        property: nil, expression: computed.expression?.description ?? computed.name,
        expressionType: computed.expressionResultType.schemaType, isRTree: isRTree,
        isAscending: element.isAscending)
    }
    self.init(name: index.name, elements: elements, partialIndexPredicate: index.partialIndexPredicateText)
  }
}

/// Returns user info in a form that a model file can contain: keys and values that are not texts become their
/// descriptions.
private func _schemaUserInfo(_ info: [AnyHashable: Any]?) -> [String: String] {
  var result: [String: String] = [:]
  for (key, value) in info ?? [:] { result["\(key.base)"] = (value as? String) ?? "\(value)" }
  return result
}
