import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Reconstructs a model from the tables of a store without a model copy: a best effort.
///
/// Recovers entities and their parents exactly; attributes with lower-case names, all in the root entity,
/// with a type derived from the column (integers and flags as Integer 64; dates separate from floating-point
/// numbers; bytes as binary data); many-to-many relationships with their inverses; to-one relationships whose
/// destination follows from a second column, from its entity's name, or from the rows that the keys
/// reference. A to-one without a known destination remains an Integer 64 attribute. One-to-many
/// relationships, whose names are in no table, are missing.
struct TableModel {
  private let _connection: Connection
  private let _path: String

  private struct Entity {
    let number: Int
    let name: String
    let parent: Int
  }

  private struct Column {
    let name: String
    let type: String
  }

  init(_ connection: Connection, path: String) {
    _connection = connection
    _path = path
  }

  /// - Throws: `StoreOpenError.incompatible` if the tables are inconsistent.
  func schema() throws -> ModelSchema {
    let entities = try _entities()
    guard !entities.isEmpty else {
      throw StoreOpenError.incompatible(
        path: _path, reason: "it holds no copy of its model, and its table Z_PRIMARYKEY lists no entity")
    }
    let byNumber = Dictionary(entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    var made: [Int: EntitySchema] = [:]
    for entity in entities {
      made[entity.number] = EntitySchema(name: entity.name, parent: byNumber[entity.parent]?.name)
    }
    for root in entities where byNumber[root.parent] == nil {
      try _fill(&made[root.number]!, entities)
    }
    try _addManyToMany(&made)
    let schema = ModelSchema(entities: entities.compactMap { made[$0.number] })
    do {
      _ = try MappingBuilder.mapping(for: ModelLayout(schema))
    } catch {
      throw StoreOpenError.incompatible(
        path: _path, reason: "it holds no copy of its model, and its tables do not make one: \(error)")
    }
    return schema
  }

  /// Returns the entities with rows or subentities; the history's own have numbers beyond any model's.
  private func _entities() throws -> [Entity] {
    var result: [Entity] = []
    try _connection.query("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT") { row in
      guard let number = Int(exactly: row.int64(0)), (1..<16000).contains(number) else { return }
      let name = row.string(1)
      guard !name.isEmpty else { return }
      result.append(Entity(number: number, name: name, parent: Int(clamping: row.int64(2))))
    }
    return result
  }

  // MARK: Entity tables

  private func _fill(_ entity: inout EntitySchema, _ entities: [Entity]) throws {
    let table = StoreVocabulary.name(entity.name)
    let columns = try _columns(of: table)
    let names = Set(columns.map(\.name))
    // Z8_OWNER beside ZOWNER gives the entity of the keys in ZOWNER.
    var stated: [String: Int] = [:]
    for column in columns {
      if let (number, stem) = _numbered(column.name) { stated["Z" + stem] = number }
    }
    for column in columns {
      if _isFixed(column.name) || _numbered(column.name) != nil { continue }
      guard column.name.hasPrefix("Z"), column.name.count > 1 else { continue }
      let property = column.name.dropFirst().lowercased()
      if column.type == "INTEGER",
        let destination = try _destination(of: column.name, in: table, stated[column.name], entities),
        destination.hasSubentities == (stated[column.name] != nil)
      {
        entity.relationships.append(
          RelationshipSchema(
            traits: PropertyTraits(name: property), destination: destination.name, inverse: nil))
      } else {
        entity.attributes.append(
          AttributeSchema(traits: PropertyTraits(name: property), type: _type(of: column)))
      }
    }
    guard names.contains(StoreVocabulary.primaryKey) else {
      throw StoreOpenError.incompatible(
        path: _path, reason: "the table \(table) of entity '\(entity.name)' is missing")
    }
  }

  private func _isFixed(_ name: String) -> Bool {
    [StoreVocabulary.primaryKey, StoreVocabulary.entity, StoreVocabulary.version].contains(name)
      || name.hasPrefix("Z_FOK_")
  }

  /// Splits a name such as Z8_OWNER into number and rest.
  private func _numbered(_ name: String) -> (Int, String)? {
    let rest = name.dropFirst()
    guard name.hasPrefix("Z"), let bar = rest.firstIndex(of: "_"), let number = Int(rest[..<bar]) else {
      return nil
    }
    let stem = String(rest[rest.index(after: bar)...])
    return stem.isEmpty ? nil : (number, stem)
  }

  private func _type(of column: Column) -> AttributeType {
    switch column.type {
    case "TIMESTAMP": .date
    case "FLOAT": .double
    case "DECIMAL": .decimal
    case "VARCHAR": .string
    case "BLOB": .binaryData
    default: .integer64
    }
  }

  /// Returns the entity that the keys in a column reference; nil for a column of plain numbers, or if
  /// unknown.
  private func _destination(
    of column: String, in table: String, _ stated: Int?, _ entities: [Entity]
  ) throws -> (name: String, hasSubentities: Bool)? {
    func answer(_ entity: Entity) -> (String, Bool) {
      (entity.name, entities.contains { $0.parent == entity.number })
    }
    if let stated { return entities.first { $0.number == stated }.map(answer) }
    // Core Data indexes all keys, but attributes only if the model specifies it.
    // A table that was renamed keeps the names of its indexes.
    guard
      try _connection.firstValue(
        "SELECT 1 FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND name LIKE '%!_' || replace(?, '_', '!_') || '!_INDEX' ESCAPE '!'",
        [.text(table), .text(column)]) != nil
    else { return nil }
    let leaves = entities.filter { entity in
      entity.parent == 0 && !entities.contains { $0.parent == entity.number }
    }
    if let named = leaves.first(where: { "Z" + $0.name.uppercased() == column }) { return answer(named) }
    let quoted = _quoted(column)
    var fitting: [Entity] = []
    for leaf in leaves {
      let target = _quoted(StoreVocabulary.name(leaf.name))
      guard try !_columns(of: StoreVocabulary.name(leaf.name)).isEmpty else { continue }
      let found = try _connection.firstValue(
        """
        SELECT COUNT(*) > 0 AND COUNT(*) = SUM(\(quoted) IN (SELECT Z_PK FROM \(target)))
        FROM \(_quoted(table)) WHERE \(quoted) IS NOT NULL
        """)
      if found == .int(1) { fitting.append(leaf) }
    }
    // A table whose name ends like the column precedes others that happen to have the keys.
    let stem = String(column.dropFirst())
    let alike = fitting.filter {
      $0.name.uppercased().hasSuffix(stem) || stem.hasSuffix($0.name.uppercased())
    }
    if alike.count == 1 { return answer(alike[0]) }
    return fitting.count == 1 ? answer(fitting[0]) : nil
  }

  // MARK: Join tables

  /// Z_1BOOKS ( Z_1AUTHORS, Z_2BOOKS ): entity 1 has `books` of entity 2, with the inverse `authors`.
  private func _addManyToMany(_ made: inout [Int: EntitySchema]) throws {
    var tables: [String] = []
    try _connection.query(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*' ORDER BY name"
    ) { tables.append($0.string(0)) }
    for table in tables {
      let keys = try _columns(of: table).map(\.name).filter { !$0.hasPrefix("Z_FOK_") }
      guard keys.count == 2, let name = _joined(table) else { continue }
      if keys[1] == StoreVocabulary.reflexive {
        let property = name.stem.lowercased()
        guard let entity = made[name.number]?.name else { continue }
        made[name.number]!.relationships.append(
          RelationshipSchema(
            traits: PropertyTraits(name: property), destination: entity, inverse: property, maxCount: 0))
        continue
      }
      guard let first = _joined(keys[0]), let second = _joined(keys[1]) else { continue }
      // The table is named after the relationship of one side.
      let forward = first.number == name.number && second.stem.hasPrefix(name.stem)
      let (owner, other) = forward ? (first, second) : (second, first)
      guard var one = made[owner.number], let another = made[other.number] else { continue }
      // The column may have a number at its end, the table has none.
      let (there, back) = (name.stem.lowercased(), owner.stem.lowercased())
      one.relationships.append(
        RelationshipSchema(
          traits: PropertyTraits(name: there), destination: another.name, inverse: back, maxCount: 0,
          isOrdered: try _columns(of: table).contains { $0.name == "Z_FOK_\(other.number)\(other.stem)" }))
      made[owner.number] = one
      guard there != back || owner.number != other.number else { continue }
      made[other.number]!.relationships.append(
        RelationshipSchema(
          traits: PropertyTraits(name: back), destination: one.name, inverse: there, maxCount: 0,
          isOrdered: try _columns(of: table).contains { $0.name == "Z_FOK_\(owner.number)\(owner.stem)" }))
    }
  }

  /// Splits a name such as Z_1BOOKS into number and rest.
  private func _joined(_ name: String) -> (number: Int, stem: String)? {
    guard name.hasPrefix("Z_") else { return nil }
    let rest = name.dropFirst(2)
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    let stem = String(rest.dropFirst(digits.count))
    guard let number = Int(digits), !stem.isEmpty else { return nil }
    return (number, stem)
  }

  // MARK: SQL

  private func _columns(of table: String) throws -> [Column] {
    var result: [Column] = []
    try _connection.query("SELECT name, type FROM pragma_table_info(?)", [.text(table)]) { row in
      result.append(Column(name: row.string(0), type: row.string(1)))
    }
    return result
  }

  private func _quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}
