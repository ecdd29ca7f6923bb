import CoreDataModelSchema

/// A model that is made from data, with a note for each guess.
struct InferredModel {
  private(set) var schema = ModelSchema()
  /// Sentences such as "orders.total: …".
  private(set) var notes: [String] = []
  /// Number of each entity by the name of its table, member or file.
  private var _numbers: [String: Int] = [:]

  mutating func note(_ text: String) { notes.append(text) }

  /// The entity of a table, member or file, which is added at its first mention.
  mutating func entity(_ source: String) -> Int {
    if let number = _numbers[source] { return number }
    let name = ModelNaming.unique(ModelNaming.entity(source), among: Set(schema.entities.map(\.name)))
    var entity = EntitySchema(name: name)
    entity.className = name
    entity.codeGeneration = .class
    schema.entities.append(entity)
    let number = schema.entities.count - 1
    _numbers[source] = number
    if name != source { note("\(source): the entity is called \(name).") }
    return number
  }

  /// The name, as it was given, of a table that has this name but for the case of its letters.
  func source(like name: String) -> String? { _numbers.keys.first { $0.lowercased() == name.lowercased() } }

  func name(of entity: Int) -> String { schema.entities[entity].name }

  private func _taken(_ entity: Int) -> Set<String> {
    Set(schema.entities[entity].attributes.map(\.name) + schema.entities[entity].relationships.map(\.name))
  }

  /// Adds an attribute, and returns its name.
  @discardableResult
  mutating func attribute(
    _ source: String, of entity: Int, _ type: AttributeType, isOptional: Bool,
    default value: SchemaLiteral? = nil
  ) -> String {
    let name = ModelNaming.unique(ModelNaming.property(source), among: _taken(entity))
    var attribute = AttributeSchema(
      traits: PropertyTraits(name: name, isOptional: isOptional), type: type, defaultValue: value)
    attribute.usesScalarValueType = !isOptional && type._hasScalarForm
    if type == .transformable { attribute.valueTransformerName = "NSSecureUnarchiveFromData" }
    schema.entities[entity].attributes.append(attribute)
    if name != source { note("\(self.name(of: entity)).\(name): called '\(source)' in the data.") }
    return name
  }

  /// Adds a relationship and its inverse.
  mutating func relationship(
    _ source: String, from owner: Int, to destination: Int, isToMany: Bool, isOptional: Bool = true,
    inverse inverseSource: String, inverseIsToMany: Bool, deleteRule: DeleteRule = .nullify,
    inverseDeleteRule: DeleteRule = .nullify
  ) {
    let name = ModelNaming.unique(ModelNaming.property(source), among: _taken(owner))
    var taken = _taken(destination)
    if owner == destination { taken.insert(name) }
    let inverse = ModelNaming.unique(ModelNaming.property(inverseSource), among: taken)
    schema.entities[owner].relationships.append(
      RelationshipSchema(
        traits: PropertyTraits(name: name, isOptional: isOptional), destination: self.name(of: destination),
        inverse: inverse, minCount: isOptional || isToMany ? 0 : 1, maxCount: isToMany ? 0 : 1,
        deleteRule: deleteRule))
    schema.entities[destination].relationships.append(
      RelationshipSchema(
        traits: PropertyTraits(name: inverse), destination: self.name(of: owner), inverse: name,
        maxCount: inverseIsToMany ? 0 : 1, deleteRule: inverseDeleteRule))
    note(
      "\(self.name(of: owner)).\(name): \(isToMany ? "members" : "one") of \(self.name(of: destination)), with the inverse "
        + "\(self.name(of: destination)).\(inverse).")
  }

  mutating func constraint(_ properties: [String], of entity: Int) {
    guard !schema.entities[entity].uniquenessConstraints.contains(properties) else { return }
    schema.entities[entity].uniquenessConstraints.append(properties)
  }

  mutating func index(_ name: String, _ properties: [String], of entity: Int) {
    schema.entities[entity].indexes.append(
      FetchIndexSchema(name: name, elements: properties.map { FetchIndexSchema.Element(property: $0) }))
  }
}

extension AttributeType {
  /// Whether Swift code may use a number or truth value in place of an object.
  fileprivate var _hasScalarForm: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: true
    default: false
    }
  }
}
