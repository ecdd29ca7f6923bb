import CoreData
import CoreDataCSQLite
import CoreDataModelSchema

/// The import of records directly on SQLite's C API: the lower bound for all stacks.
///
/// Same tables and indexes as the stacks' store, which Core Data has created; same look-ups, same commits. A statement is
/// prepared once for each combination of columns. Relationships are columns and pairs of keys, as in the store's file:
/// both ends of a one-to-one, the position in an ordered to-many.
final class RecordFloor {
  /// The statements for objects that give the same attributes.
  private struct Shape {
    let find: OpaquePointer?
    let insert: OpaquePointer
    let update: OpaquePointer?
    let areExternal: [Bool]
    /// Values of new rows for attributes that are not given.
    let defaults: [FloorCell]
    let storedEntity: Int64
    let table: StoreTableLayout.Table
  }

  private let _plan: RecordPlan
  private let _anatomy: StoreTableLayout
  private let _database: PlainSQLite
  private let _statements: FloorStatements
  private var _shapes: [ObjectIdentifier: Shape] = [:]
  private var _toOnes: [Int: FloorToOne] = [:]
  private var _toManys: [Int: any FloorToMany] = [:]
  /// The highest key of a root entity, and the one that is stored.
  private var _highest: [Int: Int64] = [:]
  private var _stored: [Int: Int64] = [:]
  private let _keep: OpaquePointer
  /// The rows of objects with a name, to which later records lead.
  private var _named: [Int: FloorRow] = [:]
  private let _wanted: Set<Int>
  /// The last position given to a member of an ordered to-many.
  private var _position: Int64 = 0

  /// Opens a store that Core Data has created and closed.
  ///
  /// - Parameter wanted: The numbers of the names by which records lead to others.
  init(path: String, plan: RecordPlan, anatomy: StoreTableLayout, wanted: Set<Int> = []) throws {
    (_plan, _anatomy, _wanted) = (plan, anatomy, wanted)
    _database = try PlainSQLite(path: path)
    _statements = FloorStatements(_database)
    try _database.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;")
    _keep = try _statements.prepare("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?")
    for table in anatomy.tables { _highest[table.root] = 0 }
    // Derived attributes are computed by functions that plain SQLite does not have.
    for row in try _database.rows("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'") {
      guard let name = row[0], let sql = row[1], anatomy.isDerivedTrigger(sql) else { continue }
      try _database.execute("DROP TRIGGER \"\(name)\"")
    }
  }

  func close() { _statements.finalize() }

  /// Imports all records, with a commit every `saveEvery` records and at the end.
  ///
  /// - Returns: the number of commits.
  func run(_ records: [RecordNode], mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int
  {
    var (commits, uncommitted) = (0, 0)
    for (index, record) in records.enumerated() {
      if uncommitted == 0 { try _database.execute("BEGIN") }
      _ = try _place(record, looksUp: mode != .insert)
      uncommitted += 1
      if uncommitted == saveEvery || index == records.count - 1 {
        try _storeHighest()
        try _database.execute("COMMIT")
        commits += 1
        uncommitted = 0
        didCommit(index + 1)
      }
    }
    return commits
  }

  private func _storeHighest() throws {
    for (root, highest) in _highest where _stored[root, default: 0] != highest {
      try _statements.run(_keep, .integer(highest), .integer(Int64(_anatomy.storedNumber(of: root))))
      _stored[root] = highest
    }
  }

  private func _place(_ node: RecordNode, looksUp: Bool) throws -> FloorRow {
    let row = try node.isReference ? _known(node) : _write(node, looksUp: looksUp)
    for link in node.links {
      var targets: [FloorRow] = []
      for target in link.targets { targets.append(try _place(target, looksUp: true)) }
      if link.isToMany {
        try _toMany(link.slot, row.entity)?.set(row, to: targets, position: &_position)
      } else {
        try _toOne(link.slot, row.entity)?.set(row, to: targets.first, position: &_position)
      }
    }
    return row
  }

  private func _known(_ node: RecordNode) throws -> FloorRow {
    guard let identity = node.identity, let row = _named[identity] else {
      throw PlainSQLite.Failure(description: "a record leads to a row that no record before it makes")
    }
    return row
  }

  /// Writes the values of an object, to the row that has its key or to a new one.
  private func _write(_ node: RecordNode, looksUp: Bool) throws -> FloorRow {
    let shape = try _shape(node.shape)
    var cells: [FloorCell] = []
    for (value, isExternal) in zip(node.values, shape.areExternal) {
      cells.append(FloorCell(value.stored, isExternal: isExternal))
    }
    let row: FloorRow
    if looksUp, let key = node.key, let find = shape.find, let found = try _find(key.value, find, shape) {
      row = found
      if let update = shape.update { try _statements.run(update, cells + [.integer(row.key)]) }
    } else {
      let key = _highest[shape.table.root]! + 1
      _highest[shape.table.root] = key
      row = FloorRow(entity: node.entity, key: key, isNew: true, targets: [:])
      try _statements.run(
        shape.insert, [.integer(key), .integer(shape.storedEntity)] + cells + shape.defaults)
    }
    if let identity = node.identity, _wanted.contains(identity) {
      // Later records find what this one has linked.
      _named[identity] = FloorRow(entity: row.entity, key: row.key, isNew: false, targets: [:])
    }
    return row
  }

  private func _find(
    _ key: RecordNode.Value, _ statement: OpaquePointer, _ shape: Shape
  ) throws -> FloorRow? {
    FloorCell(key.stored, isExternal: false).bind(to: statement, at: 1)
    defer { sqlite3_reset(statement) }
    let code = sqlite3_step(statement)
    guard code == SQLITE_ROW else {
      try _database.check(code, "SELECT FROM \(shape.table.name)")
      return nil
    }
    // All columns, as an object's snapshot needs them.
    let first = Int32(2)
    for index in shape.table.attributes.indices { _ = PlainSQLite.text(statement, first + Int32(index)) }
    var targets: [String: Int64] = [:]
    for (index, toOne) in shape.table.toOnes.enumerated() {
      let place = first + Int32(shape.table.attributes.count + index)
      if sqlite3_column_type(statement, place) != SQLITE_NULL {
        targets[toOne.column] = sqlite3_column_int64(statement, place)
      }
    }
    let entity = _anatomy.entity(stored: sqlite3_column_int64(statement, 1)) ?? shape.table.root
    return FloorRow(
      entity: _plan.layout.layout(numbered: entity), key: sqlite3_column_int64(statement, 0), isNew: false,
      targets: targets)
  }

  // MARK: Statements

  private func _shape(_ shape: RecordShape) throws -> Shape {
    let id = ObjectIdentifier(shape)
    if let known = _shapes[id] { return known }
    let made = try _madeShape(shape)
    _shapes[id] = made
    return made
  }

  private func _madeShape(_ shape: RecordShape) throws -> Shape {
    let entity = shape.entity
    let table = _anatomy.table(of: entity.entityNumber)
    func column(_ slot: Int) throws -> StoreTableLayout.AttributeColumn {
      let property = entity.slots[slot]
      guard
        let found = table.attributes.first(where: {
          $0.owner == property.owner && $0.property == property.name
        })
      else { throw PlainSQLite.Failure(description: "'\(property.name)' has no column") }
      return found
    }
    let columns = try shape.slots.map(column)
    var defaults: [(column: String, value: FloorCell)] = []
    for (slot, property) in entity.slots.enumerated() where !shape.slots.contains(slot) {
      guard let attribute = property.attribute, !property.isTransient, !property.isDerived,
        let literal = attribute.defaultValue
      else { continue }
      let found = try column(slot)
      defaults.append(
        (found.column, FloorCell(StoredValue(literal, of: attribute.type), isExternal: found.isExternal)))
    }
    let names = columns.map(\.column)
    let given = (names + defaults.map(\.column)).map { ", \($0)" }.joined()
    let marks = String(repeating: ", ?", count: names.count + defaults.count)
    return Shape(
      find: try _plan.key(of: entity).map { try _finder($0.scope, table, try column($0.slot).column) },
      insert: try _statements.prepare(
        "INSERT INTO \(table.name) (Z_PK, Z_ENT, Z_OPT\(given)) VALUES (?, ?, 1\(marks))"),
      update: names.isEmpty
        ? nil
        : try _statements.prepare(
          "UPDATE \(table.name) SET Z_OPT = Z_OPT + 1\(names.map { ", \($0) = ?" }.joined()) WHERE Z_PK = ?"),
      areExternal: columns.map(\.isExternal), defaults: defaults.map(\.value),
      storedEntity: Int64(_anatomy.storedNumber(of: entity.entityNumber)), table: table)
  }

  private func _finder(
    _ scope: PropertyLayout, _ table: StoreTableLayout.Table, _ key: String
  ) throws -> OpaquePointer {
    let columns = (table.attributes.map(\.column) + table.toOnes.map(\.column)).map { ", \($0)" }.joined()
    let numbers = scope.family.map { "\(_anatomy.storedNumber(of: $0))" }.joined(separator: ", ")
    // The plus keeps SQLite from the index of Z_ENT, which leads to every row of the table.
    let narrowed = table.hasSubentities ? " AND +Z_ENT IN (\(numbers))" : ""
    return try _statements.prepare(
      "SELECT Z_PK, Z_ENT\(columns) FROM \(table.name) WHERE \(key) = ?\(narrowed) LIMIT 1")
  }

  private func _toOne(_ slot: Int, _ entity: PropertyLayout) throws -> FloorToOne? {
    let place = entity.entityNumber << 16 | slot
    if let known = _toOnes[place] { return known }
    let property = entity.slots[slot]
    guard
      let columns = _anatomy.table(of: entity.entityNumber).toOnes.first(where: {
        $0.owner == property.owner && $0.property == property.name
      })
    else { return nil }
    let made = try FloorToOne(columns, in: entity.entityNumber, _anatomy, _statements)
    _toOnes[place] = made
    return made
  }

  private func _toMany(_ slot: Int, _ entity: PropertyLayout) throws -> (any FloorToMany)? {
    let place = entity.entityNumber << 16 | slot
    if let known = _toManys[place] { return known }
    guard let storage = _anatomy.toMany(slot, of: entity.entityNumber) else { return nil }
    let made: any FloorToMany
    switch storage {
    case .columns(let table, let key, let entityColumn, let order, _):
      made = try FloorMemberColumns(table, key, entityColumn, order, _anatomy, _statements)
    case .pairs(let table, let owner, _, _, _):
      guard let join = _anatomy.joins.first(where: { $0.name == table }) else { return nil }
      made = try FloorPairs(join, owner: owner, _statements)
    }
    _toManys[place] = made
    return made
  }
}
