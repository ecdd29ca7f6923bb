import ModelSchema

/// Where a SQLite store keeps an entity's objects: for tools and trials that look at the file itself.
package struct StoredPlace: Sendable {
  /// How a to-many relationship is stored.
  package enum Members: Sendable {
    /// As the keys of owners in a column of the members' table.
    case foreignKey(table: String, column: String)
    case joinTable(String, owner: String, member: String)
  }

  /// `Z_ENT` of the entity's rows.
  package let number: Int64
  /// All `Z_ENT`s of the entity and its subentities.
  package let family: [Int64]
  /// Names here and below are quoted where SQL asks for it.
  package let table: String
  /// Columns of attributes by name; composites and transient ones have none.
  package internal(set) var attributes: [String: String] = [:]
  /// Columns that hold the keys of to-one destinations, by the relationship's name.
  package internal(set) var toOnes: [String: String] = [:]
  package internal(set) var toManys: [String: Members] = [:]
}

extension NSPersistentStore {
  /// Where the store's file keeps an entity; nil for a store that is no SQLite file, and an entity that it has not.
  package final func storedPlace(of entity: String) -> StoredPlace? {
    guard let engine = engine as? SQLiteStoreEngine, let layout = engine.mapping.layout.layoutsByName[entity] else {
      return nil
    }
    let mapping = engine.mapping
    let columns = mapping.table(of: layout.entityNumber).columns
    var place = StoredPlace(
      number: Int64(mapping.numbers.stored(for: layout.entityNumber)),
      family: layout.family.map { Int64(mapping.numbers.stored(for: $0)) },
      table: mapping.table(of: layout.entityNumber).name)
    for (number, slot) in layout.slots.enumerated() where !slot.isHidden {
      switch mapping.storage(of: number, in: layout.entityNumber) {
      case .attribute(let column): place.attributes[slot.name] = columns[column].name
      case .toOne(let column, _, _, _): place.toOnes[slot.name] = columns[column].name
      case .oneToMany(let destination, let inverse):
        guard case .toOne(let column, _, _, _) = mapping.storage(of: inverse, in: destination) else { continue }
        let table = mapping.table(of: destination)
        place.toManys[slot.name] = .foreignKey(table: table.name, column: table.columns[column].name)
      case .manyToMany(let join, let ownerIsFirst, _):
        let table = mapping.joins[join]
        let ends = table.ends(ownerIsFirst: ownerIsFirst)
        place.toManys[slot.name] = .joinTable(table.name, owner: ends.owner, member: ends.member)
      case .composite, .none: break
      }
    }
    return place
  }

  /// SQL that makes the tables, indexes and triggers of a new store of a model.
  ///
  /// - Throws: A Cocoa error for a model that SQLite cannot hold.
  package static func schemaStatements(for model: NSManagedObjectModel) throws -> [String] {
    try StoreErrors.translating {
      try SchemaWriter(MappingBuilder.mapping(for: ModelLayout(ModelSchema(model)))).statements()
    }
  }
}
