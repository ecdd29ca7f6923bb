import CoreData

extension Schema {
  /// Converts the schema to a model of the engine, with the version hashes of Apple's SwiftData.
  ///
  /// - Parameter configurations: Names of configurations and of their entities.
  /// - Throws: `SwiftDataError.loadIssueModelContainer` for a property that can't be stored, and for a
  ///   relationship to a class outside the schema.
  func managedModel(configurations: [(name: String, entities: Set<String>)]) throws -> NSManagedObjectModel {
    var descriptions: [String: NSEntityDescription] = [:]
    for entity in entities {
      let description = NSEntityDescription()
      description.name = entity.name
      description.objectClass = ModelStorage.self
      descriptions[entity.name] = description
    }
    for entity in entities {
      guard let description = descriptions[entity.name] else { continue }
      description.subentities = entity.subentities.sorted { $0.name < $1.name }.compactMap {
        descriptions[$0.name]
      }
    }
    for entity in entities {
      descriptions[entity.name]?.properties = try entity.storedProperties.map {
        try _description(of: $0, entity, descriptions)
      }
    }
    for entity in entities {
      guard let description = descriptions[entity.name] else { continue }
      _connectInverses(entity, descriptions)
      description.uniquenessConstraints = entity.uniquenessConstraints
      description.indexes = entity.indices.enumerated().map {
        _index($1, isSpatial: entity.spatialIndices.contains($0), of: description)
      }
    }
    let model = NSManagedObjectModel()
    model.entities = entities.compactMap { descriptions[$0.name] }
    model.versionIdentifiers = [version.description]
    for configuration in configurations {
      model.setEntities(
        model.entities.filter { configuration.entities.contains($0.name ?? "") },
        forConfigurationName: configuration.name)
    }
    return model
  }

  private func _description(
    of property: any SchemaProperty, _ entity: Entity, _ descriptions: [String: NSEntityDescription]
  ) throws -> NSPropertyDescription {
    switch property {
    case let relationship as Relationship:
      guard let destination = descriptions[relationship.destination] else {
        throw SwiftDataError(
          .loadIssueModelContainer,
          "'\(entity.name).\(relationship.name)' leads to '\(relationship.destination)', which is not in the schema."
        )
      }
      return _relationship(relationship, to: destination)
    case let attribute as Attribute: return try _attribute(attribute, entity)
    default:
      throw SwiftDataError(
        .loadIssueModelContainer,
        "'\(entity.name).\(property.name)' is a \(type(of: property)), which is neither attribute nor relationship."
      )
    }
  }

  // MARK: Attributes

  private func _attribute(_ attribute: Attribute, _ entity: Entity) throws -> NSAttributeDescription {
    guard let form = _form(of: attribute, entity) else {
      throw SwiftDataError(
        .loadIssueModelContainer,
        "'\(entity.name).\(attribute.name)' is a \(attribute.valueType), which can't be stored.")
    }
    let description = form.attribute(named: attribute.name, isOptional: attribute.isOptional)
    if attribute.originalName != attribute.name { description.renamingIdentifier = attribute.originalName }
    description.versionHashModifier = attribute.hashModifier
    // New models set their own initial values; these are for existing rows when a migration adds the
    // attribute. Like Apple's, the model has no defaults but basic values.
    if let value = flattened(attribute.defaultValue) as? any BasicValue,
      form.type == type(of: value).attributeType
    {
      description.defaultValue = value.stored
    } else if let value = _accessor(of: attribute, entity)?.storedDeclaration {
      description._setFallback(value)
    }
    for option in attribute.options {
      switch option.kind {
      case .externalStorage:
        if !form.isBinary {
          _warn("\(entity.name).\(attribute.name)", "'.externalStorage' has no effect on it")
        }
        description.allowsExternalBinaryDataStorage = true
      case .ephemeral: description.isTransient = true
      case .preserveValueOnDeletion: description.preservesValueInHistoryOnDeletion = true
      case .spotlight: description.isIndexedBySpotlight = true
      case .allowsCloudEncryption: description.allowsCloudEncryption = true
      case .unique where form.isBinary && form.type != .binaryDataAttributeType || form.isJSON:
        _warn(
          "\(entity.name).\(attribute.name)",
          "'.unique' compares its stored bytes, which may differ for equal values")
      case .unique, .codable, .transformable: break
      }
    }
    return description
  }

  private func _warn(_ name: String, _ what: String) {
    Console.warnOnce(about: "options of \(name)", "'\(name)': \(what).")
  }

  private func _accessor(of attribute: Attribute, _ entity: Entity) -> PropertyAccessor? {
    guard let modelClass = entity.modelType.map({ ModelClass.of($0) }) else { return nil }
    return modelClass.indexByName[attribute.name].map { modelClass.accessors[$0] }
  }

  private func _form(of attribute: Attribute, _ entity: Entity) -> StoredForm? {
    if let accessor = _accessor(of: attribute, entity) { return accessor.form }
    let path = "\(entity.name).\(attribute.name)"
    if let transformer = attribute.transformerName {
      return StoredForm(type: .transformableAttributeType, transformerName: transformer)
    }
    return ValueCoders.coder(
      forAny: attribute.valueType, named: attribute.name, at: path, isElement: false)?.form
  }

  // MARK: Relationships

  private func _relationship(
    _ relationship: Relationship, to destination: NSEntityDescription
  ) -> NSRelationshipDescription {
    let description = NSRelationshipDescription()
    description.name = relationship.name
    description.destinationEntity = destination
    description.isOptional = relationship.isOptional
    description.minCount = relationship.isToOneRelationship ? 0 : relationship.minimumModelCount ?? 0
    description.maxCount = relationship.isToOneRelationship ? 1 : relationship.maximumModelCount ?? 0
    description.versionHashModifier = relationship.hashModifier
    if relationship.originalName != relationship.name {
      description.renamingIdentifier = relationship.originalName
    }
    description.deleteRule =
      switch relationship.deleteRule {
      case .noAction: .noActionDeleteRule
      case .nullify: .nullifyDeleteRule
      case .cascade: .cascadeDeleteRule
      case .deny: .denyDeleteRule
      }
    return description
  }

  private func _connectInverses(_ entity: Entity, _ descriptions: [String: NSEntityDescription]) {
    for case let relationship as Relationship in entity.storedProperties {
      guard let inverse = relationship.inverseName,
        let description = descriptions[entity.name]?.propertiesByName[relationship.name]
          as? NSRelationshipDescription,
        let other = descriptions[relationship.destination]?.propertiesByName[inverse]
          as? NSRelationshipDescription
      else { continue }
      description.inverseRelationship = other
      if other.inverseRelationship == nil { other.inverseRelationship = description }
    }
  }

  // MARK: Indexes

  private func _index(
    _ names: [String], isSpatial: Bool, of entity: NSEntityDescription
  ) -> NSFetchIndexDescription {
    let properties = entity.propertiesByName
    return NSFetchIndexDescription(
      name: "SwiftDataIndexOn\(isSpatial ? "Rtree" : "Binary")\(names.joined())",
      elements: names.compactMap { properties[$0] }.map {
        NSFetchIndexElementDescription(property: $0, collationType: isSpatial ? .rTree : .binary)
      })
  }
}

extension NSAttributeDescription {
  /// Sets the value of existing rows, for a composite that of each element.
  fileprivate func _setFallback(_ value: Any) {
    fallbackValue = value
    guard let composite = self as? NSCompositeAttributeDescription else { return }
    let values = value as? [String: Any] ?? [:]
    for element in composite.elements { values[element.name].map { element._setFallback($0) } }
  }
}
