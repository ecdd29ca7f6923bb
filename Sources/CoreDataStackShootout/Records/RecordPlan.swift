import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// A model for an import of records: which entity they are objects of, and by which attribute an object of an entity
/// is found again.
struct RecordPlan: Sendable {
  /// The attribute by which objects are found, and the entity among whose objects, subentities included, it is unique.
  struct Key: Sendable {
    let slot: Int
    let scope: PropertyLayout
  }

  let schema: ModelSchema
  let layout: ModelLayout
  /// The entity of the records; of a store's, the one that is listed.
  let entity: PropertyLayout
  /// Whether records are of all entities, and refer to each other by the names that they have.
  let spansEntities: Bool
  private let _relaxed: [String]
  /// The keys that the user has named.
  private let _named: [Key]
  /// The keys by the numbers of the entities that have them, subentities included.
  private let _keys: [Int: Key]

  /// - Parameters:
  ///   - modelPath: A model, or a store that has its model inside.
  ///   - keys: Attributes as `number`, of the records' entity, or `Customer.number`. Other entities have the key that a
  ///     uniqueness constraint of one attribute names.
  ///   - relaxed: Mandatory properties that may be empty, as `Order.number`.
  /// - Throws: `ToolFailure` with what is missing.
  init(
    modelPath: String, entity name: String, keys: [String], spansEntities: Bool = false,
    relaxed: [String] = []
  ) throws {
    let model = try StoreModel.load(modelPath, for: [:])
    try model.expectExact(modelPath)
    try self.init(model.schema, entity: name, keys: keys, spansEntities: spansEntities, relaxed: relaxed)
  }

  init(
    _ schema: ModelSchema, entity name: String, keys: [String], spansEntities: Bool = false,
    relaxed: [String] = []
  ) throws {
    (self.schema, self.spansEntities, _relaxed) = (schema, spansEntities, relaxed)
    layout = try ModelLayout(schema)
    entity = try Self._entity(name, layout, at: "'--entity'")
    var found: [Int: Key] = [:]
    // An entity's constraints are its parents', too, which come first.
    for layout in layout.layouts {
      guard
        let slot = layout.uniquenessConstraints.first(where: {
          $0.count == 1 && Self._canBeKey($0[0], layout)
        })?[0],
        found[layout.entityNumber] == nil
      else { continue }
      for member in layout.family { found[member] = Key(slot: slot, scope: layout) }
    }
    var named: [Key] = []
    for key in keys {
      let parts = key.split(separator: ".", maxSplits: 1).map(String.init)
      let owner = parts.count == 2 ? try Self._entity(parts[0], layout, at: "'--key \(key)'") : entity
      let slot = try Self._keySlot(parts[parts.count - 1], owner, option: key)
      let key = Key(slot: slot, scope: owner)
      for member in owner.family { found[member] = key }
      named.append(key)
    }
    (_keys, _named) = (found, named)
  }

  /// The model for a coordinator, whose objects are of no class of the program that has it.
  func makeModel() throws -> NSManagedObjectModel {
    let model = try NSManagedObjectModel(schema: schema)
    for entity in model.entities {
      entity.managedObjectClassName = "NSManagedObject"
      // No record has a value for them, and the transformers are the program's.
      for attribute in entity.attributesByName.values where attribute.valueTransformerName != nil {
        attribute.valueTransformerName = nil
      }
    }
    for name in _relaxed {
      let words = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard words.count == 2, let property = model.entitiesByName[words[0]]?.propertiesByName[words[1]] else {
        continue
      }
      property.isOptional = true
      (property as? NSRelationshipDescription)?.minCount = 0
    }
    return model
  }

  /// Creates an empty store that has the model inside.
  func writeModel(to path: String) throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try makeModel())
    try coordinator.addPersistentStore(
      ofType: NSSQLiteStoreType, configurationName: nil, at: URL(fileURLWithPath: path), options: nil)
    try coordinator.removeStores()
  }

  /// The named keys with which no index of the model begins, as `Order.number`: a look-up reads the whole table.
  var unindexedKeys: [String] {
    _named.filter { !_isIndexed($0.scope, $0.slot) }.map {
      "\($0.scope.entityName).\($0.scope.slots[$0.slot].name)"
    }
  }

  private func _isIndexed(_ entity: PropertyLayout, _ slot: Int) -> Bool {
    let name = entity.slots[slot].name
    if entity.uniquenessConstraints.contains(where: { $0.first == slot }) { return true }
    var number: Int? = entity.entityNumber
    while let current = number {
      let layout = layout.layout(numbered: current)
      if let description = schema.entities.first(where: { $0.name == layout.entityName }) {
        let begins =
          description.indexes.contains { $0.elements.first?.property == name }
          || description.compoundIndexes.contains { $0.first == name }
          || description.attributes.contains { $0.name == name && $0.isIndexed }
        if begins { return true }
      }
      number = layout.parentNumber
    }
    return false
  }

  /// Whether objects of any entity are found again.
  var hasKeys: Bool { !_keys.isEmpty }

  /// An entity's key; nil if its objects are never found again.
  func key(of entity: PropertyLayout) -> Key? { _keys[entity.entityNumber] }

  /// The attribute of an entity that tells its objects apart on a screen: the first text, or the key.
  func label(of entity: PropertyLayout) -> String? {
    let texts = entity.slots.filter { $0.form == .string && !$0.isTransient }
    let named = texts.first { ["name", "title", "label"].contains($0.name.lowercased()) }
    return (named ?? texts.first)?.name ?? key(of: entity).map { entity.slots[$0.slot].name }
  }

  /// Returns the entity of a name.
  func entity(_ name: String, at place: String) throws(ToolFailure) -> PropertyLayout {
    try Self._entity(name, layout, at: place)
  }

  private static func _entity(
    _ name: String, _ layout: ModelLayout, at place: String
  ) throws(ToolFailure) -> PropertyLayout {
    if let found = layout.layoutsByName[name] { return found }
    let names = layout.layouts.map(\.entityName).sorted()
    let near = SpellingSuggestion.nearest(to: name, among: names)
    throw ToolFailure(
      .badInput,
      "\(place): the model has no entity '\(name)'."
        + (near.map { " Did you mean '\($0)'?" } ?? " It has \(names.joined(separator: ", "))."))
  }

  private static func _keySlot(
    _ name: String, _ entity: PropertyLayout, option: String
  ) throws(ToolFailure) -> Int {
    if let slot = entity.slot(named: name), entity.slots[slot].isAttribute, !entity.slots[slot].isTransient {
      if _canBeKey(slot, entity) { return slot }
      throw ToolFailure(
        .badInput,
        "'\(name)' cannot be the key of '\(entity.entityName)': a number, a text, a UUID, a URI or a date can."
      )
    }
    let names = entity.slots.filter { $0.isAttribute && !$0.isTransient }.map(\.name).sorted()
    let near = SpellingSuggestion.nearest(to: name, among: names)
    throw ToolFailure(
      .badInput,
      "'--key \(option)': '\(entity.entityName)' has no attribute '\(name)'."
        + (near.map { " Did you mean '\($0)'?" } ?? " It has \(names.joined(separator: ", "))."))
  }

  private static func _canBeKey(_ slot: Int, _ entity: PropertyLayout) -> Bool {
    switch entity.slots[slot].form {
    case .integer16, .integer32, .integer64, .string, .uuid, .uri, .date: true
    default: false
    }
  }
}
