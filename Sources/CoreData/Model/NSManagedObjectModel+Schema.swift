import CoreDataModelSchema
import Foundation

extension NSManagedObjectModel {
  /// Creates an editable model from plain values.
  ///
  /// - Parameter known: The layout of another model that was created from the same values.
  /// - Throws: `ModelLayoutError` if the entities cannot be connected as specified.
  package convenience init(schema: ModelSchema, laidOut known: ModelLayout? = nil) throws {
    self.init()
    let descriptions = schema.entities.map { NSEntityDescription($0) }
    // Entities that have no valid layout cannot be connected either: a missing parent, a cycle of parents, a
    // missing destination.
    let layout = try known ?? ModelLayout(schema._stated(by: descriptions))
    _connect(descriptions, schema)
    if known != nil || _states(layout.schema) { knownLayout = layout }
  }

  /// Whether the descriptions state all that the schema does.
  private final func _states(_ schema: ModelSchema) -> Bool {
    let hasAllIndexes = zip(entities, schema.entities).allSatisfy { description, entity in
      description.indexes.isEmpty && entity.indexes.isEmpty
        || description.indexes.map { FetchIndexSchema($0) } == entity.indexes
    }
    return hasAllIndexes && ModelSchema(self, entities: schema.entities) == schema
  }

  /// Connects the entities, which the schema lists in the same order, and adds the rest of the schema.
  private final func _connect(_ descriptions: [NSEntityDescription], _ schema: ModelSchema) {
    let byName = Dictionary(
      zip(schema.entities, descriptions).map { ($0.name, $1) }, uniquingKeysWith: { _, last in last })
    for entity in schema.entities {
      guard let parent = entity.parent else { continue }
      byName[parent]!.subentities.append(byName[entity.name]!)
    }
    for entity in schema.entities {
      let description = byName[entity.name]!
      for relationship in entity.relationships {
        let end = description._relationship(named: relationship.name)!
        end.destinationEntity = byName[relationship.destination]
        if let inverse = relationship.inverse {
          end.inverseRelationship = end.destinationEntity?._relationship(named: inverse)
        }
      }
      description.indexes = entity.indexes.map { NSFetchIndexDescription($0, in: description) }
    }
    entities = schema.entities.map { byName[$0.name]! }
    for configuration in schema.configurations {
      setEntities(configuration.entities.compactMap { byName[$0] }, forConfigurationName: configuration.name)
      if configuration.usedWithCloudKit { cloudKitConfigurations.insert(configuration.name) }
    }
    for request in schema.fetchRequests { setTemplateSchema(request) }
    versionIdentifiers = Set(schema.versionIdentifiers)
  }
}

extension ModelSchema {
  /// The schema in the form that descriptions made of its entities state.
  fileprivate func _stated(by descriptions: [NSEntityDescription]) -> ModelSchema {
    var stated = self
    for (index, description) in descriptions.enumerated() { stated.entities[index]._adopt(description) }
    return stated
  }
}

extension EntitySchema {
  /// Resets settings that the description does not retain, and adopts its form of default values and
  /// composites, so that the two are equal except for indexes.
  fileprivate mutating func _adopt(_ description: NSEntityDescription) {
    codeGeneration = .manual
    isSyncable = true
    for index in attributes.indices {
      if !attributes[index].elements.isEmpty {
        attributes[index] = AttributeSchema(description.ownProperties[index] as! NSAttributeDescription)
      } else if attributes[index].defaultValue != nil {
        let value = (description.ownProperties[index] as! NSAttributeDescription).defaultValue
        attributes[index].defaultValue = value.flatMap { SchemaLiteral($0, type: attributes[index].type) }
      }
    }
  }
}

extension NSEntityDescription {
  /// Returns the entity's own or inherited relationship of this name.
  fileprivate final func _relationship(named name: String) -> NSRelationshipDescription? {
    // From the end, where the relationships are.
    var position = ownProperties.count - 1
    while position >= 0, ownProperties[position].name != name { position -= 1 }
    return position >= 0
      ? ownProperties[position] as? NSRelationshipDescription : superentity?._relationship(named: name)
  }

  /// Creates an entity with its own properties; the caller connects it to others.
  fileprivate convenience init(_ schema: EntitySchema) {
    self.init()
    name = schema.name
    managedObjectClassName = schema.className
    module = schema.module
    isAbstract = schema.isAbstract
    versionHashModifier = schema.versionHashModifier
    renamingIdentifier = schema.renamingIdentifier
    if !schema.userInfo.isEmpty { userInfo = schema.userInfo }
    uniquenessConstraints = schema.uniquenessConstraints
    compoundIndexNames = schema.compoundIndexes
    spotlightExpressionText = schema.coreSpotlightDisplayNameExpression
    var properties: [NSPropertyDescription] = []
    properties.reserveCapacity(
      schema.attributes.count + schema.relationships.count + schema.fetchedProperties.count)
    for attribute in schema.attributes { properties.append(NSAttributeDescription._make(attribute)) }
    for relationship in schema.relationships {
      properties.append(NSRelationshipDescription._make(relationship))
    }
    for fetched in schema.fetchedProperties { properties.append(NSFetchedPropertyDescription._make(fetched)) }
    self.properties = properties
  }
}

extension NSPropertyDescription {
  fileprivate final func _adopt(_ traits: PropertyTraits) {
    // Only what differs from a new property: most traits of most properties do not.
    name = traits.name
    if !traits.isOptional { isOptional = false }
    if traits.isTransient { isTransient = true }
    if let modifier = traits.versionHashModifier { versionHashModifier = modifier }
    if let identifier = traits.renamingIdentifier { renamingIdentifier = identifier }
    if !traits.userInfo.isEmpty { userInfo = traits.userInfo }
  }
}

extension NSAttributeDescription {
  fileprivate static func _make(_ schema: AttributeSchema) -> NSAttributeDescription {
    let attribute: NSAttributeDescription
    if let derivation = schema.derivationExpression {
      let derived = NSDerivedAttributeDescription()
      derived.derivationText = derivation
      attribute = derived
    } else if schema.type == .composite {
      let composite = NSCompositeAttributeDescription()
      composite.elements = schema.elements.map(_make)
      composite.compositeName = schema.compositeName
      attribute = composite
    } else {
      attribute = NSAttributeDescription()
    }
    attribute._adopt(schema.traits)
    attribute.attributeType = NSAttributeType(schema.type)
    if let name = schema.customClassName { attribute.attributeValueClassName = name }
    if let value = schema.defaultValue { attribute.defaultValue = value.object(for: schema.type) }
    attribute.limits = schema.limits
    attribute.fileValidations = schema.validations
    if schema.usesScalarValueType { attribute.usesScalarValueType = true }
    if let name = schema.valueTransformerName { attribute.valueTransformerName = name }
    if schema.allowsExternalBinaryDataStorage { attribute.allowsExternalBinaryDataStorage = true }
    if schema.preservesValueInHistoryOnDeletion { attribute.preservesValueInHistoryOnDeletion = true }
    if schema.allowsCloudEncryption { attribute.allowsCloudEncryption = true }
    if schema.isIndexed { attribute.indexedFlag = true }
    if schema.isIndexedBySpotlight { attribute.isIndexedBySpotlight = true }
    return attribute
  }
}

extension NSRelationshipDescription {
  fileprivate static func _make(_ schema: RelationshipSchema) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship._adopt(schema.traits)
    relationship.minCount = schema.minCount
    relationship.maxCount = schema.maxCount
    relationship.deleteRule = NSDeleteRule(rawValue: schema.deleteRule.rawValue)!
    relationship.isOrdered = schema.isOrdered
    return relationship
  }
}

extension NSFetchedPropertyDescription {
  fileprivate static func _make(_ schema: FetchedPropertySchema) -> NSFetchedPropertyDescription {
    let property = NSFetchedPropertyDescription()
    property._adopt(schema.traits)
    property.requestSchema = schema.request
    return property
  }
}

extension NSFetchIndexDescription {
  /// Creates an index over properties of `entity`; skips elements whose property does not exist.
  fileprivate convenience init(_ schema: FetchIndexSchema, in entity: NSEntityDescription) {
    let properties = entity.propertiesByName
    let elements = schema.elements.compactMap { element -> NSFetchIndexElementDescription? in
      let property: NSPropertyDescription
      if let name = element.property {
        guard let found = properties[name] else { return nil }
        property = found
      } else if let text = element.expression {
        let computed = NSExpressionDescription()
        computed.name = text
        computed.expression = try? ModelText.expression(text)
        computed.expressionResultType =
          element.expressionType.map(NSAttributeType.init) ?? .undefinedAttributeType
        property = computed
      } else {
        return nil
      }
      let made = NSFetchIndexElementDescription(
        property: property, collationType: element.isRTree ? .rTree : .binary)
      made.isAscending = element.isAscending
      return made
    }
    let isMixed = Set(elements.map(\.collationType)).count > 1
    self.init(
      name: schema.name, elements: isMixed ? elements.filter { $0.collationType == .binary } : elements)
    partialIndexPredicateText = schema.partialIndexPredicate
  }
}
