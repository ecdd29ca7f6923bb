import CoreDataModelSchema
import Foundation

/// Writes the keyed archive of a model with the vocabulary, collection classes and order of Core Data's
/// archives.
///
/// Each entity lists all its properties by name, with its own copies of inherited ones. Predicates that
/// `PredicateArchive` does not support are omitted from a store's copy, whose hashes do not cover them; a
/// file with such a predicate is rejected (`CompiledModelFile`).
package struct CompiledModelWriter {
  /// The destination of the archive.
  package enum Place: Sendable {
    /// A store's copy of its model, which Core Data reads as well.
    case store
    /// A `.mom` file, which contains exactly what the source specifies, including `SourceAttributes`.
    case file
  }

  let schema: ModelSchema
  private let _place: Place
  let predicates: PredicateArchive
  private let _entities: [String: KeyedObject]
  private let _model = KeyedObject(["NSManagedObjectModel", "NSObject"])
  /// The shared empty dictionary.
  private let _noInfo = KeyedObject.texts([:])
  /// The ancestors of each entity, topmost first, and the entity itself last.
  private let _lines: [String: [EntitySchema]]
  private var _relationships: [String: KeyedObject] = [:]

  /// Returns the archive of a model.
  package static func write(_ schema: ModelSchema, for place: Place) -> Data {
    var schema = schema
    schema.entities.sort { $0.name < $1.name }
    var writer = CompiledModelWriter(schema, place)
    return KeyedArchiveWriter.archive(writer._archived())
  }

  private init(_ schema: ModelSchema, _ place: Place) {
    self.schema = schema
    _place = place
    predicates = PredicateArchive(reader: place == .store ? .anyFramework : .thisLibrary)
    let byName = Dictionary(schema.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    _entities = byName.mapValues { _ in KeyedObject(["NSEntityDescription", "NSObject"]) }
    _lines = byName.mapValues { entity in
      var line = [entity]
      var seen: Set<String> = [entity.name]
      while let name = line[0].parent, let parent = byName[name], seen.insert(name).inserted {
        line.insert(parent, at: 0)
      }
      return line
    }
  }

  // MARK: Model

  private mutating func _archived() -> KeyedObject {
    // Created first, since the two ends of a relationship refer to each other.
    for (name, line) in _lines {
      for relationship in line.flatMap(\.relationships) {
        _relationships["\(name).\(relationship.name)"] = KeyedObject(
          ["NSRelationshipDescription", "NSPropertyDescription", "NSObject"])
      }
    }
    for entity in schema.entities { _fill(entity) }
    let entities = _place == .store ? KeyedValue.object(_knownKeys()) : _entityDictionary()
    _model.fields = [("NSEntities", entities), ("NSFetchRequestTemplates", _templates())]
    if !schema.configurations.isEmpty { _model.fields.append(("NSConfigurations", _configurations())) }
    let identifiers = schema.versionIdentifiers.map { KeyedValue.text($0) }
    _model.fields.append(("NSVersionIdentifiers", .object(.set(identifiers))))
    _model.fields += _modelSource()
    return _model
  }

  /// Creates the dictionary of entities in the form used by files.
  private func _entityDictionary() -> KeyedValue {
    .object(.dictionary(schema.entities.map { ($0.name, .object(_entities[$0.name]!)) }))
  }

  /// Creates the dictionary of entities in the form used by stores.
  private func _knownKeys() -> KeyedObject {
    let names = schema.entities.map { KeyedValue.text($0.name) }
    let mapping = KeyedObject(
      ["NSKnownKeysMappingStrategy1", "NSKnownKeysMappingStrategy", "NSObject"],
      [
        ("keys", .object(.array(names))), ("length", .plain(.integer(Int64(names.count)))),
        ("version", .plain(.integer(1))),
      ])
    let values = schema.entities.map { KeyedValue.object(_entities[$0.name]!) }
    return KeyedObject(
      ["NSKnownKeysDictionary1", "NSKnownKeysDictionary", "NSMutableDictionary", "NSDictionary", "NSObject"],
      [
        ("searchMapping", .object(mapping)),
        ("emptyToken", .text("__empty_slot_token_4c24_98dc_ac1e_b773__")),
        ("values", .object(.array(values))), ("version", .plain(.integer(1))),
      ])
  }

  private func _configurations() -> KeyedValue {
    let entries = schema.configurations.map { configuration in
      let members = configuration.entities.compactMap { _entities[$0] }.map { KeyedValue.object($0) }
      return (configuration.name, KeyedValue.object(.set(members)))
    }
    return .object(.dictionary(entries))
  }

  private func _templates() -> KeyedValue {
    let entries = schema.fetchRequests.map { ($0.name, KeyedValue.object(_fetchRequest($0))) }
    return entries.isEmpty ? .null : .object(.dictionary(entries))
  }

  // MARK: Entities

  private func _fill(_ entity: EntitySchema) {
    let object = _entities[entity.name]!
    let line = _lines[entity.name]!
    let subentities = schema.entities.filter { $0.parent == entity.name }
    object.fields = [
      ("NSEntityName", .text(entity.name)),
      ("NSClassNameForEntity", .text(entity.qualifiedClassName ?? "NSManagedObject")),
      ("NSManagedObjectModel", .reference(_model)),
      ("NSSuperentity", entity.parent.flatMap { _entities[$0] }.map { .reference($0) } ?? .null),
      ("NSSubentities", .object(.dictionary(subentities.map { ($0.name, .object(_entities[$0.name]!)) }))),
      ("NSProperties", .object(.dictionary(_properties(of: entity.name, line)))),
      ("NSUserInfo", _userInfo(entity.userInfo)),
      ("NSVersionHashModifier", .text(entity.versionHashModifier)),
      ("NSRenamingIdentifier", .text(entity.renamingIdentifier ?? entity.name)),
    ]
    if entity.isAbstract { object.fields.append(("NSIsAbstract", .plain(.boolean(true)))) }
    if !entity.uniquenessConstraints.isEmpty {
      object.fields.append(("NSUniqueTuples", _tuples(entity.uniquenessConstraints)))
    }
    let isStore = _place == .store
    let compound = entity.compoundIndexes + (isStore ? entity.indexes.compactMap(_compoundIndex) : [])
    if !compound.isEmpty { object.fields.append(("NSCompoundIndexes", _tuples(compound))) }
    object.fields += _source(SourceAttributes(entity))
    let listed = (isStore ? _impliedIndexes(of: entity) : []) + entity.indexes
    if !listed.isEmpty {
      let indexes = listed.map { KeyedValue.object(_index($0, in: object)) }
      object.fields.append(("NSFetchIndexDescriptions", .object(.mutableArray(indexes))))
    }
  }

  /// Returns the indexes, named after the attribute, that Core Data adds to those over a single attribute.
  private func _impliedIndexes(of entity: EntitySchema) -> [FetchIndexSchema] {
    var taken = Set(entity.indexes.map(\.name))
    let attributes = Set(entity.attributes.map(\.name))
    return entity.indexes.compactMap { index in
      guard index.elements.count == 1, let name = index.elements[0].property,
        index.elements == [.init(property: name)],
        index.partialIndexPredicate == nil, attributes.contains(name), taken.insert(name).inserted
      else { return nil }
      return FetchIndexSchema(name: name, elements: index.elements)
    }
  }

  /// Returns the names of an index's properties if it has several and no other elements.
  private func _compoundIndex(_ index: FetchIndexSchema) -> [String]? {
    let names = index.elements.compactMap(\.property)
    return names.count > 1 && names.count == index.elements.count ? names : nil
  }

  private func _tuples(_ tuples: [[String]]) -> KeyedValue {
    .object(
      .mutableArray(tuples.map { .object(.mutableArray($0.map { .text($0) })) }))
  }

  private func _index(_ index: FetchIndexSchema, in entity: KeyedObject) -> KeyedObject {
    let object = KeyedObject(["NSFetchIndexDescription", "NSObject"])
    let elements = index.elements.map { element -> KeyedValue in
      let made = KeyedObject(
        ["NSFetchIndexElementDescription", "NSObject"],
        [
          ("NSPropertyName", .text(element.property ?? element.expression)),
          ("NSFetchIndexElementType", .plain(.integer(element.isRTree ? 1 : 0))),
          ("NSAscending", .plain(.boolean(element.isAscending))),
          ("NSFetchIndexDescription", .reference(object)),
        ])
      if let text = element.expression, let expression = predicates.expression(text) {
        let computed = KeyedObject(
          ["NSExpressionDescription", "NSPropertyDescription", "NSObject"],
          [
            ("NSPropertyName", .text(text)), ("NSExpression", .object(expression)),
            ("NSExpressionResultType", .plain(.integer(Int64(element.expressionType?.rawValue ?? 0)))),
          ])
        made.fields.append(("NSProperty", .object(computed)))
      }
      return .object(made)
    }
    object.fields = [
      ("NSIndexName", .text(index.name)), ("NSEntity", .reference(entity)),
      (
        "NSPartialIndexPredicate",
        index.partialIndexPredicate.flatMap { predicates.predicate($0) }.map { .object($0) } ?? .null
      ),
      ("NSIndexElements", .object(.array(elements))),
    ]
    return object
  }

  // MARK: Properties

  /// Returns all properties of an entity by name, including inherited ones.
  private func _properties(of entity: String, _ line: [EntitySchema]) -> [(String, KeyedValue)] {
    let owner = _entities[entity]!
    var found: [(String, KeyedValue)] = []
    for member in line {
      let indexed = Set(
        member.indexes.filter { $0.elements.count == 1 }.compactMap { $0.elements[0].property })
      for attribute in member.attributes {
        let isIndexed = attribute.isIndexed || _place == .store && indexed.contains(attribute.name)
        found.append((attribute.name, .object(_attribute(attribute, of: owner, isIndexed: isIndexed))))
      }
      for relationship in member.relationships {
        found.append(
          (relationship.name, .object(_relationship(relationship, of: entity, declaredBy: member.name))))
      }
      for fetched in member.fetchedProperties {
        found.append((fetched.traits.name, .object(_fetchedProperty(fetched, of: owner))))
      }
    }
    return found.sorted { $0.0.utf16.lexicographicallyPrecedes($1.0.utf16) }
  }

  /// Bits of a property's `_P`, in addition to the flags that also have fields of their own.
  private enum Mark {
    static let always: Int64 = 1
    static let optional: Int64 = 2
    static let readOnly: Int64 = 4
    static let transient: Int64 = 8
    static let noValidation: Int64 = 0x30
    static let noUserInfo: Int64 = 0x40
    static let noHashModifier: Int64 = 0x80
    static let spotlight: Int64 = 0x100
    static let ordered: Int64 = 0x400
  }

  private func _traits(
    _ traits: PropertyTraits, of entity: KeyedObject?, marks: Int64 = 0, isReadOnly: Bool = false,
    isValidated: Bool = false
  ) -> [(key: String, value: KeyedValue)] {
    var marks = marks | Mark.always
    if traits.isOptional { marks |= Mark.optional }
    if isReadOnly { marks |= Mark.readOnly }
    if traits.isTransient { marks |= Mark.transient }
    if !isValidated { marks |= Mark.noValidation }
    if traits.userInfo.isEmpty { marks |= Mark.noUserInfo }
    if traits.versionHashModifier == nil { marks |= Mark.noHashModifier }
    var fields: [(key: String, value: KeyedValue)] = [
      ("_P", .plain(.integer(marks))), ("NSPropertyName", .text(traits.name)),
      ("NSEntity", entity.map { .reference($0) } ?? .null),
      ("NSRenamingIdentifier", .text(traits.renamingIdentifier ?? traits.name)),
    ]
    if traits.isOptional { fields.append(("NSIsOptional", .plain(.boolean(true)))) }
    if traits.isTransient { fields.append(("NSIsTransient", .plain(.boolean(true)))) }
    if isReadOnly { fields.append(("NSIsReadOnly", .plain(.boolean(true)))) }
    if !traits.userInfo.isEmpty { fields.append(("NSUserInfo", _userInfo(traits.userInfo))) }
    if let modifier = traits.versionHashModifier { fields.append(("NSVersionHashModifier", .text(modifier))) }
    return fields
  }

  /// - Parameter entity: Nil for an element of a composite as defined in the model.
  private func _attribute(_ attribute: AttributeSchema, of entity: KeyedObject?, isIndexed: Bool)
    -> KeyedObject
  {
    var classes = ["NSAttributeDescription", "NSPropertyDescription", "NSObject"]
    if attribute.isDerived { classes.insert("NSDerivedAttributeDescription", at: 0) }
    if attribute.type == .composite { classes.insert("NSCompositeAttributeDescription", at: 0) }
    let validation = ArchivedValidation(attribute, predicates)
    let object = KeyedObject(classes)
    object.fields = _traits(
      attribute.traits, of: entity, marks: attribute.isIndexedBySpotlight ? Mark.spotlight : 0,
      isReadOnly: attribute.isDerived, isValidated: !validation.isEmpty)
    let flags: Int64 =
      (attribute.allowsExternalBinaryDataStorage ? 4 : 0)
      | (attribute.preservesValueInHistoryOnDeletion ? 16 : 0)
    object.fields += [
      ("NSAttributeType", .plain(.integer(Int64(attribute.type.rawValue)))),
      ("NSAttributeValueClassName", .text(attribute.archivedClassName)),
      ("NSDefaultValue", attribute.defaultValue.map { $0.archived() } ?? .null),
      ("NSValueTransformerName", .text(attribute.valueTransformerName)),
      ("NSFlagsKey", .plain(.integer(flags))),
    ]
    object.fields += _source(SourceAttributes(attribute))
    if isIndexed { object.fields.append(("NSIsIndexed", .plain(.boolean(true)))) }
    if attribute.isIndexedBySpotlight {
      object.fields.append(("NSIndexedBySpotlight", .plain(.boolean(true))))
    }
    if let text = attribute.derivationExpression {
      let expression = predicates.expression(DerivationText.canonical(text))
      object.fields += [
        ("NSDerivationExpression", expression.map { .object($0) } ?? .null), ("NSFilteringPredicate", .null),
      ]
    }
    if attribute.type == .composite {
      let elements = attribute.elements.map {
        KeyedValue.object(_attribute($0, of: entity, isIndexed: false))
      }
      object.fields.append(("NSElements", .object(.array(elements))))
    }
    if !validation.isEmpty {
      object.fields += [
        ("NSValidationPredicates", .object(.array(validation.predicates.map { .object($0) }))),
        ("NSValidationWarnings", .object(.array(validation.warnings))),
      ]
    }
    return object
  }

  private func _relationship(
    _ relationship: RelationshipSchema, of entity: String, declaredBy declarer: String
  ) -> KeyedObject {
    let object = _relationships["\(entity).\(relationship.name)"]!
    object.fields = _traits(
      relationship.traits, of: _entities[entity]!, marks: relationship.isOrdered ? Mark.ordered : 0)
    let inverse = relationship.inverse.flatMap { _relationships["\(relationship.destination).\($0)"] }
    // The largest integer, by which code specifies "no limit", becomes -1.
    let maxCount = Int64(Int32(truncatingIfNeeded: relationship.maxCount))
    object.fields += [
      ("NSDestinationEntity", _entities[relationship.destination].map { .reference($0) } ?? .null),
      ("NSInverseRelationship", inverse.map { .reference($0) } ?? .null),
      ("_NSInverseRelationshipName", .text(relationship.inverse)),
      ("_NSDestinationEntityName", .text(relationship.destination)),
      ("NSMaxCount", .plain(.integer(maxCount))),
      ("NSMinCount", .plain(.integer(Int64(Int32(truncatingIfNeeded: relationship.minCount))))),
      ("NSDeleteRule", .plain(.integer(Int64(relationship.deleteRule.rawValue)))),
    ]
    object.fields += _source(SourceAttributes(relationship.traits))
    if relationship.isOrdered { object.fields.append(("NSIsOrdered", .plain(.boolean(true)))) }
    return object
  }

  private func _fetchedProperty(_ fetched: FetchedPropertySchema, of entity: KeyedObject) -> KeyedObject {
    var traits = fetched.traits
    traits.isTransient = true
    let object = KeyedObject(["NSFetchedPropertyDescription", "NSPropertyDescription", "NSObject"])
    object.fields = _traits(traits, of: entity, isReadOnly: true)
    object.fields += [
      ("NSFetchRequest", .object(_fetchRequest(fetched.request))),
      ("_NSFetchRequestEntityName", .text(fetched.request.entity)),
    ]
    object.fields += _source(SourceAttributes(fetched))
    return object
  }

  private func _fetchRequest(_ request: FetchRequestSchema) -> KeyedObject {
    KeyedObject(
      ["NSFetchRequest", "NSPersistentStoreRequest", "NSObject"],
      [
        ("NSEntity", _entities[request.entity].map { .reference($0) } ?? .null),
        ("NSPredicate", request.predicate.flatMap { predicates.predicate($0) }.map { .object($0) } ?? .null),
        ("NSSortDescriptors", .null), ("NSValuesToFetch", .null), ("NSValuesToGroupBy", .null),
        ("NSHavingPredicate", .null), ("NSRelationshipKeyPathsForPrefetching", .null),
        ("NSHasFetchRequestFlags", .plain(.boolean(true))), ("NSFetchRequestFlags", .plain(.integer(30))),
        ("NSResultType", .plain(.integer(Int64(clamping: request.resultType)))),
        ("NSFetchOffset", .plain(.integer(0))), ("NSFetchLimit", .plain(.integer(Int64(request.fetchLimit)))),
        ("NSBatchSize", .plain(.integer(Int64(request.fetchBatchSize)))),
        ("NSAllocationType", .plain(.integer(0))),
      ] + _source(SourceAttributes(request)))
  }

  private func _userInfo(_ info: [String: String]) -> KeyedValue {
    .object(info.isEmpty ? _noInfo : .texts(info))
  }

  // MARK: Source

  private func _source(_ source: SourceAttributes) -> [(key: String, value: KeyedValue)] {
    _place == .file && !source.texts.isEmpty
      ? [("\(SourceAttributes.field)", .object(.texts(source.texts)))] : []
  }

  private func _modelSource() -> [(key: String, value: KeyedValue)] {
    guard _place == .file else { return [] }
    var fields: [(key: String, value: KeyedValue)] = []
    let composites = schema.composites.sorted { $0.key < $1.key }.map { name, elements in
      let archived = elements.map { KeyedValue.object(_attribute($0, of: nil, isIndexed: false)) }
      return (name, KeyedValue.object(.array(archived)))
    }
    if !composites.isEmpty {
      fields.append(("\(SourceAttributes.compositesField)", .object(.dictionary(composites))))
    }
    let cloud = schema.configurations.filter(\.usedWithCloudKit).map { KeyedValue.text($0.name) }
    if !cloud.isEmpty { fields.append(("\(SourceAttributes.cloudField)", .object(.array(cloud)))) }
    return fields
  }
}
