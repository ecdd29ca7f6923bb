import CoreDataModelSchema
import Foundation

/// Reads compiled models: the keyed archive in a `.mom`, and a store's copy of its model, which has the same
/// vocabulary.
package struct CompiledModelReader {
  private let _archive: KeyedArchive
  private let _path: String

  /// Reads the archive in `data`; `path` is used only in messages.
  ///
  /// - Throws: `ModelFileError`.
  package static func read(_ data: Data, path: String) throws -> ModelSchema {
    guard data.count <= XMLTreeReader.sizeLimit else {
      throw ModelFileError(path: path, reason: "\(data.count) bytes is more than any model has; not read")
    }
    do {
      return try CompiledModelReader(_archive: KeyedArchive(data), _path: path)._model()
    } catch let error as BinaryPlistError {
      throw ModelFileError(path: path, reason: "no compiled model: \(error.reason)")
    }
  }

  /// Returns the names of each entity's properties, including inherited ones, in the order of the archive.
  ///
  /// A store's history depends on this order; the model does not.
  ///
  /// - Throws: `ModelFileError`.
  package static func propertyOrders(in data: Data, path: String) throws -> [String: [String]] {
    do {
      return try CompiledModelReader(_archive: KeyedArchive(data), _path: path)._propertyOrders()
    } catch let error as BinaryPlistError {
      throw ModelFileError(path: path, reason: "no compiled model: \(error.reason)")
    }
  }

  private func _propertyOrders() -> [String: [String]] {
    var result: [String: [String]] = [:]
    for (name, value) in _archive.dictionary(_archive.root?.fields["NSEntities"]) ?? [] {
      let properties = _archive.object(value).flatMap { _archive.dictionary($0.fields["NSProperties"]) }
      result[name] = properties?.map(\.key)
    }
    return result
  }

  private func _model() throws -> ModelSchema {
    guard let root = _archive.root, root.className == "NSManagedObjectModel" else {
      throw _error("its root object is '\(_archive.root?.className ?? "nothing")', not a model")
    }
    var schema = ModelSchema()
    for (name, value) in _archive.dictionary(root.fields["NSEntities"]) ?? [] {
      guard let object = _archive.object(value) else { throw _error("entity '\(name)' is missing") }
      schema.entities.append(try _entity(object))
    }
    schema.entities.sort { $0.name < $1.name }
    _dropInherited(from: &schema.entities)
    let cloud = (_archive.array(root.fields[SourceAttributes.cloudField]) ?? []).compactMap(_archive.string)
    for (name, value) in _archive.dictionary(root.fields["NSConfigurations"]) ?? [] {
      let members = (_archive.array(value) ?? []).compactMap { _archive.string($0) ?? _entityName($0) }
      var configuration = ConfigurationSchema(name: name, entities: members.sorted())
      configuration.usedWithCloudKit = cloud.contains(name)
      schema.configurations.append(configuration)
    }
    schema.configurations.sort { $0.name < $1.name }
    for (name, value) in _archive.dictionary(root.fields["NSFetchRequestTemplates"]) ?? [] {
      schema.fetchRequests.append(try _fetchRequest(value, name: name, entity: nil))
    }
    schema.fetchRequests.sort { $0.name < $1.name }
    for (name, value) in _archive.dictionary(root.fields[SourceAttributes.compositesField]) ?? [] {
      schema.composites[name] = try (_archive.array(value) ?? []).compactMap(_archive.object).map {
        try _attribute($0, in: name, depth: 1)
      }
    }
    schema.versionIdentifiers =
      (_archive.array(root.fields["NSVersionIdentifiers"]) ?? []).compactMap(_archive.string).sorted()
    return schema
  }

  /// Removes inherited declarations from each entity: an archive may list inherited properties and indexes
  /// with every entity, as separate objects.
  private func _dropInherited(from entities: inout [EntitySchema]) {
    let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for position in entities.indices {
      var names: Set<String> = []
      var indexes: Set<FetchIndexSchema> = []
      var seen: Set<String> = [entities[position].name]
      var next = entities[position].parent
      while let name = next, seen.insert(name).inserted, let ancestor = byName[name] {
        names.formUnion(ancestor.attributes.map(\.name))
        names.formUnion(ancestor.relationships.map(\.name))
        names.formUnion(ancestor.fetchedProperties.map(\.traits.name))
        indexes.formUnion(ancestor.indexes)
        next = ancestor.parent
      }
      guard !names.isEmpty || !indexes.isEmpty else { continue }
      entities[position].attributes.removeAll { names.contains($0.name) }
      entities[position].relationships.removeAll { names.contains($0.name) }
      entities[position].fetchedProperties.removeAll { names.contains($0.traits.name) }
      entities[position].indexes.removeAll { indexes.contains($0) }
    }
  }

  // MARK: Entities

  private func _entityName(_ value: PlistValue?) -> String? {
    _archive.object(value).flatMap { _archive.string($0.fields["NSEntityName"]) }
  }

  private func _entity(_ object: KeyedArchive.Object) throws -> EntitySchema {
    guard let name = _archive.string(object.fields["NSEntityName"]) else {
      throw _error("an entity has no name")
    }
    var entity = EntitySchema(name: name, parent: _entityName(object.fields["NSSuperentity"]))
    if let className = _archive.string(object.fields["NSClassNameForEntity"]), className != "NSManagedObject"
    {
      entity.className = className
    }
    entity.isAbstract = _archive.flag(object.fields["NSIsAbstract"])
    entity.versionHashModifier = _archive.string(object.fields["NSVersionHashModifier"])
    entity.renamingIdentifier = _renaming(object, name)
    entity.userInfo = _userInfo(object)
    for (_, value) in _archive.dictionary(object.fields["NSProperties"]) ?? [] {
      // Inherited properties are listed as well: as proxies, or with the declaring entity.
      guard let property = _archive.object(value), property.className != "_NSPropertyDescriptionProxy",
        case .uid(object.index)? = property.fields["NSEntity"]
      else { continue }
      switch property.className {
      case "NSRelationshipDescription": entity.relationships.append(try _relationship(property, in: name))
      case "NSFetchedPropertyDescription":
        let request = try _fetchRequest(
          property.fields["NSFetchRequest"], name: "fetchedPropertyFetchRequest",
          entity: _archive.string(property.fields["_NSFetchRequestEntityName"]))
        var fetched = FetchedPropertySchema(traits: try _traits(property, in: name), request: request)
        _source(property).apply(to: &fetched)
        entity.fetchedProperties.append(fetched)
      case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
        entity.attributes.append(try _attribute(property, in: name, depth: 0))
      default: throw _error("entity '\(name)' has a property of the unknown kind '\(property.className)'")
      }
    }
    entity.sortProperties()
    entity.uniquenessConstraints = _tuples(object.fields["NSUniqueTuples"])
    entity.compoundIndexes = _tuples(object.fields["NSCompoundIndexes"])
    entity.indexes = try (_archive.array(object.fields["NSFetchIndexDescriptions"]) ?? []).compactMap(_index)
    _dropImplied(from: &entity)
    _source(object).apply(to: &entity)
    return entity
  }

  /// Removes duplicate indexes. An archive with indexes repeats them in the older forms, and adds another
  /// index, named after the attribute, for each one over a single attribute.
  private func _dropImplied(from entity: inout EntitySchema) {
    guard !entity.indexes.isEmpty else { return }
    var seen: Set<FetchIndexSchema> = []
    entity.indexes.removeAll { !seen.insert($0).inserted }
    let names = entity.indexes.map { $0.elements.map(\.property) }
    entity.compoundIndexes.removeAll { names.contains($0) }
    for position in entity.attributes.indices where names.contains([entity.attributes[position].name]) {
      entity.attributes[position].isIndexed = false
    }
    let single = Dictionary(grouping: entity.indexes.filter { $0.elements.count == 1 }) {
      $0.elements[0].property
    }
    entity.indexes.removeAll { index in
      guard let name = index.elements.first?.property, index.elements.count == 1, index.name == name else {
        return false
      }
      return single[name]!.count > 1 && index.partialIndexPredicate == nil
    }
  }

  /// Reads lists of property names; a member may be a name or a property.
  private func _tuples(_ value: PlistValue?) -> [[String]] {
    (_archive.array(value) ?? []).map { tuple in
      (_archive.array(tuple) ?? []).compactMap { member in
        _archive.string(member)
          ?? _archive.object(member).flatMap { _archive.string($0.fields["NSPropertyName"]) }
      }
    }
  }

  private func _renaming(_ object: KeyedArchive.Object, _ name: String) -> String? {
    // The compiler fills in the name if the model has no identifier.
    let identifier = _archive.string(object.fields["NSRenamingIdentifier"])
    return identifier == name ? nil : identifier
  }

  private func _userInfo(_ object: KeyedArchive.Object) -> [String: String] {
    _texts(object.fields["NSUserInfo"])
  }

  private func _source(_ object: KeyedArchive.Object) -> SourceAttributes {
    SourceAttributes(_texts(object.fields[SourceAttributes.field]))
  }

  private func _texts(_ value: PlistValue?) -> [String: String] {
    guard value != nil else { return [:] }
    var texts: [String: String] = [:]
    for (key, value) in _archive.dictionary(value) ?? [] { texts[key] = _archive.string(value) }
    return texts
  }

  private func _index(_ value: PlistValue) throws -> FetchIndexSchema? {
    guard let object = _archive.object(value), let name = _archive.string(object.fields["NSIndexName"]) else {
      return nil
    }
    let elements = try (_archive.array(object.fields["NSIndexElements"]) ?? []).compactMap { value in
      try _archive.object(value).map { element in
        let isRTree = _archive.integer(element.fields["NSFetchIndexElementType"]) == 1
        let isAscending = _archive.flag(element.fields["NSAscending"])
        guard let computed = _computedElement(element) else {
          return FetchIndexSchema.Element(
            property: _archive.string(element.fields["NSPropertyName"]), isRTree: isRTree,
            isAscending: isAscending)
        }
        let type = _archive.integer(computed.fields["NSExpressionResultType"]).flatMap { UInt(exactly: $0) }
        return FetchIndexSchema.Element(
          property: nil, expression: try _text.expression(computed.fields["NSExpression"]),
          expressionType: type.flatMap(AttributeType.init), isRTree: isRTree, isAscending: isAscending)
      }
    }
    return FetchIndexSchema(
      name: name, elements: elements,
      partialIndexPredicate: try _archive.object(object.fields["NSPartialIndexPredicate"]).map(
        _text.predicate))
  }

  private func _computedElement(_ element: KeyedArchive.Object) -> KeyedArchive.Object? {
    element.fields.all.lazy.compactMap { _archive.object($0.value) }.first {
      $0.className == "NSExpressionDescription"
    }
  }

  // MARK: Properties

  private func _traits(_ object: KeyedArchive.Object, in entity: String) throws -> PropertyTraits {
    guard let name = _archive.string(object.fields["NSPropertyName"]) else {
      throw _error("a property of '\(entity)' has no name")
    }
    return PropertyTraits(
      name: name, isOptional: _archive.flag(object.fields["NSIsOptional"]),
      isTransient: _archive.flag(object.fields["NSIsTransient"]),
      versionHashModifier: _archive.string(object.fields["NSVersionHashModifier"]),
      renamingIdentifier: _renaming(object, name), userInfo: _userInfo(object))
  }

  private func _attribute(
    _ object: KeyedArchive.Object, in entity: String, depth: Int
  ) throws -> AttributeSchema {
    let traits = try _traits(object, in: entity)
    let number = _archive.integer(object.fields["NSAttributeType"]) ?? 0
    guard let type = UInt(exactly: number).flatMap(AttributeType.init) else {
      throw _error("'\(entity).\(traits.name)' has the unknown attribute type \(number)")
    }
    var attribute = AttributeSchema(traits: traits, type: type)
    attribute.defaultValue = ArchivedLiteral(_archive).literal(object.fields["NSDefaultValue"], type: type)
    attribute.valueTransformerName = _archive.string(object.fields["NSValueTransformerName"])
    if type == .transformable {
      attribute.customClassName = _archive.string(object.fields["NSAttributeValueClassName"])
    }
    let flags = _archive.integer(object.fields["NSFlagsKey"]) ?? 0
    attribute.allowsExternalBinaryDataStorage = flags & 4 != 0
    attribute.preservesValueInHistoryOnDeletion = flags & 16 != 0
    attribute.isIndexed = _archive.flag(object.fields["NSIsIndexed"])
    attribute.isIndexedBySpotlight = _archive.flag(object.fields["NSIndexedBySpotlight"])
    if object.className == "NSDerivedAttributeDescription" {
      attribute.derivationExpression = try _text.expression(object.fields["NSDerivationExpression"])
    }
    if type == .composite {
      guard depth < 16 else { throw _error("'\(entity).\(traits.name)': composites are nested too deeply") }
      attribute.compositeName = traits.name
      attribute.elements = try _elements(object).map { try _attribute($0, in: entity, depth: depth + 1) }
    }
    try _readValidation(object, into: &attribute)
    _source(object).apply(to: &attribute)
    return attribute
  }

  /// Returns the elements of a composite: its only list of attributes.
  private func _elements(_ object: KeyedArchive.Object) -> [KeyedArchive.Object] {
    for (_, value) in object.fields.all.sorted(by: { $0.name < $1.name }) {
      let members = (_archive.array(value) ?? _archive.dictionary(value)?.map(\.value) ?? []).compactMap {
        _archive.object($0)
      }
      if !members.isEmpty, members.allSatisfy({ $0.className.hasSuffix("AttributeDescription") }) {
        return members
      }
    }
    return []
  }

  private func _readValidation(_ object: KeyedArchive.Object, into attribute: inout AttributeSchema) throws {
    let predicates = _archive.array(object.fields["NSValidationPredicates"]) ?? []
    guard !predicates.isEmpty else { return }
    let warnings = _archive.array(object.fields["NSValidationWarnings"]) ?? []
    for (position, value) in predicates.enumerated() {
      guard let predicate = _archive.object(value) else { continue }
      if let limit = ArchivedLimit(predicate, archive: _archive, type: attribute.type) {
        limit.apply(to: &attribute.limits)
        continue
      }
      let warning = position < warnings.count ? warnings[position] : .null
      attribute.validations.append(
        ValidationSchema(
          predicate: try _text.predicate(predicate),
          warning: _archive.string(warning) ?? _archive.integer(warning).map { "\($0)" } ?? ""))
    }
  }

  private func _relationship(_ object: KeyedArchive.Object, in entity: String) throws -> RelationshipSchema {
    var traits = try _traits(object, in: entity)
    _source(object).apply(to: &traits)
    guard
      let destination = _archive.string(object.fields["_NSDestinationEntityName"])
        ?? _entityName(object.fields["NSDestinationEntity"])
    else {
      throw _error("relationship '\(entity).\(traits.name)' has no destination")
    }
    let inverse =
      _archive.string(object.fields["_NSInverseRelationshipName"])
      ?? _archive.object(object.fields["NSInverseRelationship"]).flatMap {
        _archive.string($0.fields["NSPropertyName"])
      }
    let maxCount = _archive.integer(object.fields["NSMaxCount"]) ?? 0
    let rule = UInt(exactly: _archive.integer(object.fields["NSDeleteRule"]) ?? 1).flatMap(DeleteRule.init)
    return RelationshipSchema(
      traits: traits, destination: destination, inverse: inverse,
      minCount: max(0, _archive.integer(object.fields["NSMinCount"]) ?? 0),
      // -1 is what remains of the largest integer, by which code specifies "no limit".
      maxCount: maxCount < 0 ? Int.max : maxCount, deleteRule: rule ?? .nullify,
      isOrdered: _archive.flag(object.fields["NSIsOrdered"]))
  }

  private func _fetchRequest(_ value: PlistValue?, name: String, entity: String?) throws -> FetchRequestSchema
  {
    guard let object = _archive.object(value) else { throw _error("fetch request '\(name)' is missing") }
    var request = FetchRequestSchema(
      name: name, entity: entity ?? _entityName(object.fields["NSEntity"]) ?? "",
      predicate: try _archive.object(object.fields["NSPredicate"]).map(_text.predicate))
    request.resultType = UInt(exactly: _archive.integer(object.fields["NSResultType"]) ?? 0) ?? 0
    request.fetchLimit = max(0, _archive.integer(object.fields["NSFetchLimit"]) ?? 0)
    request.fetchBatchSize = max(0, _archive.integer(object.fields["NSBatchSize"]) ?? 0)
    _source(object).apply(to: &request)
    return request
  }

  private var _text: ArchivedPredicateText { ArchivedPredicateText(_archive, path: _path) }

  private func _error(_ reason: String) -> ModelFileError { ModelFileError(path: _path, reason: reason) }
}
