import CoreDataModelSchema

/// The classes of a model, and the parts of the model that they cannot express.
///
/// SwiftData names an entity after its class, so the classes have the entities' names, regardless of the
/// model's class names.
struct ModelClassPlan {
  private(set) var classes: [ModelClass] = []
  private(set) var remarks: [String] = []
  private let _schema: ModelSchema
  private let _entities: [String: EntitySchema]
  private let _types: SwiftDataTypes

  /// - Throws: `ModelCodegenError`.
  init(_ schema: ModelSchema, isOfStore: Bool = false) throws {
    _schema = schema
    _entities = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    guard _entities.count == schema.entities.count else {
      let names = schema.entities.map(\.name).sorted()
      let twice = zip(names, names.dropFirst()).first { $0 == $1 }?.0 ?? ""
      throw ModelCodegenError(entity: twice, reason: "two entities have this name; rename one of them")
    }
    _types = SwiftDataTypes(entities: Set(schema.entities.map(\.name)), isOfStore: isOfStore)
    for entity in schema.entities.sorted(by: { $0.name < $1.name }) {
      classes.append(try _class(of: entity))
    }
    if !schema.fetchRequests.isEmpty {
      let names = schema.fetchRequests.map { "'\($0.name)'" }.sorted().joined(separator: ", ")
      remarks.append("SwiftData has no fetch request templates: \(names)")
    }
  }

  private mutating func _class(of entity: EntitySchema) throws -> ModelClass {
    guard SwiftName.isIdentifier(entity.name) else {
      throw ModelCodegenError(
        entity: entity.name, reason: "the name is no Swift identifier; rename it in the model")
    }
    guard entity.name != "Root" else {
      throw ModelCodegenError(
        entity: entity.name, reason: "every model has a type of this name; rename the entity in the model")
    }
    _remark(entity)
    var composites: [ModelClass.Composite] = []
    var properties: [ModelClass.Property] = []
    for attribute in entity.attributes {
      try _check(attribute.traits, entity)
      if let property = _property(attribute, entity, &composites) { properties.append(property) }
    }
    for relationship in entity.relationships {
      try _check(relationship.traits, entity)
      properties.append(try _property(relationship, entity))
    }
    return ModelClass(
      entity: entity.name, name: SwiftName.escaped(entity.name),
      superclass: try _superclass(of: entity).map { SwiftName.escaped($0.name) },
      isFinal: !_schema.entities.contains { $0.parent == entity.name },
      documentation: entity.userInfo["documentation"], composites: composites, uniques: _uniques(entity),
      indexes: _indexes(entity), properties: properties, inheritedParameters: try _inherited(entity))
  }

  private func _check(_ traits: PropertyTraits, _ entity: EntitySchema) throws {
    guard SwiftName.isIdentifier(traits.name) else {
      throw ModelCodegenError(
        entity: entity.name, property: traits.name,
        reason: "the name is no Swift identifier; rename it in the model")
    }
    let taken: Set<String> = [
      "persistentBackingData", "schemaMetadata", "Root", "init", "self", "Self", "Type",
    ]
    guard !taken.contains(traits.name) else {
      throw ModelCodegenError(
        entity: entity.name, property: traits.name,
        reason: "a model has a member of this name already; rename it in the model")
    }
  }

  private func _superclass(of entity: EntitySchema) throws -> EntitySchema? {
    guard let name = entity.parent else { return nil }
    guard let parent = _entities[name] else {
      throw ModelCodegenError(entity: entity.name, reason: "its parent entity '\(name)' is not in the model")
    }
    return parent
  }

  private func _inherited(_ entity: EntitySchema) throws -> [ModelClass.Property] {
    var line: [EntitySchema] = []
    var next = try _superclass(of: entity)
    while let parent = next {
      guard line.count < _entities.count else {
        throw ModelCodegenError(entity: entity.name, reason: "its line of parents is a circle")
      }
      line.insert(parent, at: 0)
      next = try _superclass(of: parent)
    }
    // Used for initializers only; remarks on these properties are reported with their own entity.
    var copy = self
    return try line.flatMap { parent in
      var composites: [ModelClass.Composite] = []
      return parent.attributes.compactMap {
        copy._property($0, parent, &composites, qualifier: "\(parent.name).")
      }
        + (try parent.relationships.map { try copy._property($0, parent) })
    }.filter(\.needsValue)
  }

  private mutating func _remark(_ entity: EntitySchema) {
    func addRemark(_ text: String) { remarks.append("entity '\(entity.name)': \(text)") }
    if entity.isAbstract { addRemark("SwiftData has no abstract entities; its class can be instantiated") }
    if let modifier = entity.versionHashModifier {
      addRemark("SwiftData has no hash modifier of an entity ('\(modifier)')")
    }
    if let identifier = entity.renamingIdentifier, identifier != entity.name {
      addRemark("SwiftData has no former name of an entity ('\(identifier)')")
    }
    for fetched in entity.fetchedProperties {
      addRemark("SwiftData has no fetched properties; '\(fetched.traits.name)' is left out")
    }
  }

  // MARK: Attributes

  private mutating func _property(
    _ attribute: AttributeSchema, _ entity: EntitySchema, _ composites: inout [ModelClass.Composite],
    qualifier: String = ""
  ) -> ModelClass.Property? {
    func addRemark(_ text: String) {
      remarks.append("entity '\(entity.name)', attribute '\(attribute.name)': \(text)")
    }
    if attribute.isDerived {
      addRemark("SwiftData has no derived attributes; it is left out")
      return nil
    }
    var options = _options(attribute, entity)
    var type: String
    switch attribute.type {
    case .composite:
      let composite = _composite(attribute, entity)
      composites.append(composite)
      type = qualifier + composite.name
    case .transformable:
      let written = attribute.customClassName.flatMap(TypeParser.parse)
      if let written, Self._isCollection(written), Self._isStandard(attribute.valueTransformerName) {
        // The type that SwiftData itself writes for an array.
        type = "\(written)"
      } else {
        let name = attribute.valueTransformerName ?? "NSSecureUnarchiveFromData"
        options.insert(".transformable(by: \(SourceText.literal(name)))", at: 0)
        type = written.map { "\($0)" } ?? "NSObject"
      }
    case .undefined, .objectID:
      guard attribute.isTransient else {
        addRemark("SwiftData has no attributes of the type \(attribute.type.fileName); it is left out")
        return nil
      }
      return ModelClass.Property(
        name: SwiftName.escaped(attribute.name), attribute: "@Transient", type: "Any?", value: nil,
        isOptional: true,
        documentation: attribute.traits.userInfo["documentation"])
    default: type = _types.type(of: attribute.type) ?? "NSObject"
    }
    if !attribute.validations.isEmpty || !attribute.limits.isEmpty {
      addRemark("SwiftData has no validation rules; those of the model are left out")
    }
    if attribute.isOptional, !type.hasSuffix("?") {
      type = type.hasPrefix("any ") ? "(\(type))?" : "\(type)?"
    }
    let isOptional = type.hasSuffix("?")
    return ModelClass.Property(
      name: SwiftName.escaped(attribute.name),
      attribute: options.isEmpty ? nil : "@Attribute(\(options.joined(separator: ", ")))", type: type,
      value: _types.value(attribute.defaultValue, of: attribute.type), isOptional: isOptional,
      documentation: attribute.traits.userInfo["documentation"])
  }

  private static func _isStandard(_ transformer: String?) -> Bool {
    transformer == nil || transformer == "NSSecureUnarchiveFromData"
      || transformer == "NSSecureUnarchiveFromDataTransformer"
  }

  private static func _isCollection(_ type: TypeSyntax) -> Bool {
    switch type {
    case .array, .dictionary: true
    case .named(let components): components.count == 1 && components[0].name == "Set"
    default: false
    }
  }

  private func _options(_ attribute: AttributeSchema, _ entity: EntitySchema) -> [String] {
    var options: [String] = []
    if entity.uniquenessConstraints.contains([attribute.name]) { options.append(".unique") }
    if attribute.isTransient { options.append(".ephemeral") }
    if attribute.allowsExternalBinaryDataStorage { options.append(".externalStorage") }
    if attribute.preservesValueInHistoryOnDeletion { options.append(".preserveValueOnDeletion") }
    if attribute.allowsCloudEncryption { options.append(".allowsCloudEncryption") }
    if attribute.isIndexedBySpotlight { options.append(".spotlight") }
    return options + Self._identity(attribute.traits)
  }

  private static func _identity(_ traits: PropertyTraits) -> [String] {
    var arguments: [String] = []
    if let name = traits.renamingIdentifier, name != traits.name {
      arguments.append("originalName: \(SourceText.literal(name))")
    }
    if let modifier = traits.versionHashModifier {
      arguments.append("hashModifier: \(SourceText.literal(modifier))")
    }
    return arguments
  }

  /// A struct with the elements; an enumeration is stored in the same form, but its cases are not in the model.
  private func _composite(_ attribute: AttributeSchema, _ entity: EntitySchema) -> ModelClass.Composite {
    var name = SwiftName.capitalized(attribute.name)
    if let given = attribute.compositeName, given != attribute.name, SwiftName.isIdentifier(given) {
      name = SwiftName.capitalized(given)
    }
    // A member must not hide a type that other members have.
    if SwiftName.escaped(name) != name || !Self._isFree(name) || _entities[name] != nil { name += "Value" }
    var nested: [ModelClass.Composite] = []
    let elements = attribute.elements.compactMap { element -> (name: String, type: String)? in
      guard SwiftName.isIdentifier(element.name) else { return nil }
      var type: String
      if element.type == .composite {
        let inner = _composite(element, entity)
        nested.append(inner)
        type = inner.name
      } else if let basic = _types.type(of: element.type) {
        type = basic
      } else {
        return nil
      }
      if element.isOptional { type += "?" }
      return (SwiftName.escaped(element.name), type)
    }
    return ModelClass.Composite(name: name, elements: elements, nested: nested)
  }

  private static func _isFree(_ name: String) -> Bool {
    let used: Set<String> = [
      "Int", "Int16", "Int32", "Int64", "Double", "Float", "Bool", "String", "Decimal", "Date", "Data",
      "UUID", "URL",
      "Codable", "Any", "Root", "Schema", "Model", "Attribute", "Relationship", "Transient", "SwiftData",
      "Foundation",
      "Observation", "Swift", "NSObject",
    ]
    return !used.contains(name)
  }

  // MARK: Relationships

  private mutating func _property(
    _ relationship: RelationshipSchema, _ entity: EntitySchema
  ) throws -> ModelClass.Property {
    func addRemark(_ text: String) {
      remarks.append("entity '\(entity.name)', relationship '\(relationship.name)': \(text)")
    }
    guard let destination = _entities[relationship.destination] else {
      throw ModelCodegenError(
        entity: entity.name, property: relationship.name,
        reason: "its destination entity '\(relationship.destination)' is not in the model")
    }
    if relationship.isOrdered {
      addRemark("SwiftData has no ordered relationships; the order of its members is lost")
    }
    var arguments: [String] = []
    if relationship.deleteRule != .nullify { arguments.append("deleteRule: .\(relationship.deleteRule)") }
    if relationship.isToMany {
      if relationship.minCount > 0 { arguments.append("minimumModelCount: \(relationship.minCount)") }
      if relationship.maxCount > 0 { arguments.append("maximumModelCount: \(relationship.maxCount)") }
    }
    let identity = Self._identity(relationship.traits)
    arguments += identity.filter { $0.hasPrefix("originalName") }
    if let inverse = relationship.inverse, SwiftName.isIdentifier(inverse) {
      if relationship.destination == entity.name, inverse == relationship.name {
        addRemark("it is its own inverse, which '@Relationship' has no words for")
      } else if _names(inverse, of: destination, relationship, entity) {
        arguments.append("inverse: \\\(SwiftName.escaped(destination.name)).\(SwiftName.escaped(inverse))")
      }
    }
    arguments += identity.filter { $0.hasPrefix("hashModifier") }
    let member = SwiftName.escaped(destination.name)
    let type = relationship.isToMany ? "[\(member)]" : member
    return ModelClass.Property(
      name: SwiftName.escaped(relationship.name),
      attribute: arguments.isEmpty ? nil : "@Relationship(\(arguments.joined(separator: ", ")))",
      type: relationship.isOptional ? "\(type)?" : type,
      value: relationship.isToMany && !relationship.isOptional ? "[]" : nil,
      isOptional: relationship.isOptional,
      documentation: relationship.traits.userInfo["documentation"])
  }

  /// Whether this end names the inverse: exactly one of the two must. It is the to-many end, or the first one
  /// by name.
  private func _names(
    _ inverse: String, of destination: EntitySchema, _ relationship: RelationshipSchema,
    _ entity: EntitySchema
  ) -> Bool {
    guard let other = destination.relationships.first(where: { $0.name == inverse }) else {
      // The inverse is inherited or missing, so it is unknown whether the other end names this one.
      return true
    }
    if relationship.isToMany != other.isToMany { return relationship.isToMany }
    return (entity.name, relationship.name) < (destination.name, other.name)
  }

  // MARK: Constraints and indexes

  private mutating func _uniques(_ entity: EntitySchema) -> [String] {
    let attributes = Set(entity.attributes.map(\.name))
    return entity.uniquenessConstraints.compactMap { names in
      if names.count == 1, attributes.contains(names[0]) { return nil }
      guard names.allSatisfy(SwiftName.isIdentifier), !names.isEmpty else { return nil }
      return "[\(names.map { "\\.\(SwiftName.escaped($0))" }.joined(separator: ", "))]"
    }
  }

  private mutating func _indexes(_ entity: EntitySchema) -> [String] {
    entity.indexes.compactMap { index in
      let names = index.elements.compactMap(\.property)
      let isRTree = index.elements.contains(where: \.isRTree)
      guard names.count == index.elements.count, !names.isEmpty, index.partialIndexPredicate == nil,
        names.allSatisfy(SwiftName.isIdentifier),
        index.elements.allSatisfy({ $0.isAscending && $0.isRTree == isRTree })
      else {
        remarks.append(
          "entity '\(entity.name)': SwiftData has no index like '\(index.name)'; it is left out (stores do not need it)"
        )
        return nil
      }
      let paths = names.map { "\\.\(SwiftName.escaped($0))" }.joined(separator: ", ")
      return ".\(isRTree ? "rtree" : "binary")([\(paths)])"
    }
  }
}
