import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// Looks in the rows of a store for what no save leaves behind, but other programs' SQL may: links to rows that are not
/// there, entities that the model does not have, missing values, and keys that will be given again.
///
/// Reads each table a few times, by joins inside the server, and locks nothing.
struct PostgreSQLStoreCheck {
  /// A kind of fault, and the rows that have it.
  struct Finding {
    let text: String
    let count: Int64
    /// Some of the rows' keys.
    let keys: [Int64]
  }

  private let _mapping: StoreMapping
  private let _connection: PostgreSQLConnection

  /// - Parameter mapping: That of the store's version of its model.
  init(_ mapping: StoreMapping, on connection: PostgreSQLConnection) {
    _mapping = mapping
    _connection = connection
  }

  /// Returns what is found, by table.
  ///
  /// - Parameter begin: Called before each table is read, with the fraction of the tables that have been read, and its name.
  func findings(_ begin: (Double, String) -> Void) throws -> [Finding] {
    var result: [Finding] = []
    let total = Double(_mapping.tables.count + _mapping.joins.count)
    for (position, table) in _mapping.tables.enumerated() {
      begin(Double(position) / total, _plain(table.name))
      result += try _entities(table)
      for number in _mapping.layout.layout(numbered: table.rootNumber).family {
        let layout = _mapping.layout.layout(numbered: number)
        for slot in layout.slots.indices where layout.slots[slot].owner == number {
          result += try _links(slot, layout) + _values(slot, layout)
        }
      }
      result += try _keys(table)
    }
    for (position, join) in _mapping.joins.enumerated() {
      begin(Double(_mapping.tables.count + position) / total, _plain(join.name))
      result += try _pairs(join)
    }
    return result
  }

  /// Counts rows of a table `t` that meet a condition.
  private func _find(_ text: String, _ table: String, _ condition: String, key: String = "t.\"id\"") throws
    -> [Finding]
  {
    let found = try _connection.run(
      """
      SELECT pg_catalog.count(*), (pg_catalog.array_agg(k ORDER BY k) FILTER (WHERE n <= 5))::text FROM (SELECT \(key) AS k, \
      pg_catalog.row_number() OVER (ORDER BY \(key)) AS n FROM \(table) t WHERE \(condition)) AS f
      """, isRepeated: false)
    guard found.int64(0, 0) > 0 else { return [] }
    let keys = found.string(0, 1).split { !$0.isNumber && $0 != "-" }.compactMap { Int64($0) }
    return [Finding(text: text, count: found.int64(0, 0), keys: keys)]
  }

  /// The stored numbers of an entity and its subentities.
  private func _numbers(_ number: Int) -> String {
    _mapping.layout.layout(numbered: number).family.map { "\(_mapping.numbers.stored(for: $0))" }
      .joined(separator: ", ")
  }

  private func _entities(_ table: TableMapping) throws -> [Finding] {
    try _find(
      "\(_plain(table.name)): of an entity that the model does not have", table.name,
      "t.\"entity\" NOT IN (\(_numbers(table.rootNumber)))")
  }

  /// To-ones whose destination is not there, or of another entity than the model or the row says.
  private func _links(_ slot: Int, _ layout: PropertyLayout) throws -> [Finding] {
    guard
      case .toOne(let key, let entity, _, let destination) = _mapping.storage(
        of: slot, in: layout.entityNumber)
    else { return [] }
    let table = _mapping.table(of: layout.entityNumber)
    let column = table.columns[key].name
    let target = _mapping.table(of: destination).name
    let name = "\(_plain(table.name)).\(PostgreSQLNames.plain(column))"
    var kind = "d.\"entity\" IN (\(_numbers(destination)))"
    if let entity { kind += " AND d.\"entity\" = t.\(table.columns[entity].name)" }
    return try _find(
      "\(name): points at a row of \(_plain(target)) that is not there", table.name,
      "t.\(column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(target) d WHERE d.\"id\" = t.\(column))")
      + _find(
        "\(name): points at a row of another entity", table.name,
        "EXISTS (SELECT 1 FROM \(target) d WHERE d.\"id\" = t.\(column) AND NOT (\(kind)))")
      + _oneSided(slot, layout, table, column, name)
  }

  /// One-to-ones whose other end points elsewhere.
  private func _oneSided(
    _ slot: Int, _ layout: PropertyLayout, _ table: TableMapping, _ column: String, _ name: String
  ) throws -> [Finding] {
    guard let relationship = layout.slots[slot].relationship, let inverse = relationship.inverseSlot,
      case .toOne(let back, _, _, _) = _mapping.storage(of: inverse, in: relationship.destination)
    else { return [] }
    let target = _mapping.table(of: relationship.destination)
    return try _find(
      "\(name): points at a row that does not point back", table.name,
      "EXISTS (SELECT 1 FROM \(target.name) d WHERE d.\"id\" = t.\(column) "
        + "AND d.\(target.columns[back].name) IS DISTINCT FROM t.\"id\")")
  }

  /// Values that the model requires.
  private func _values(_ slot: Int, _ layout: PropertyLayout) throws -> [Finding] {
    let property = layout.slots[slot]
    guard !property.isOptional, !property.isTransient, !property.isHidden, !property.isDerived else {
      return []
    }
    let table = _mapping.table(of: layout.entityNumber)
    let column: String
    switch _mapping.storage(of: slot, in: layout.entityNumber) {
    case .attribute(let place), .toOne(let place, _, _, _): column = table.columns[place].name
    case .none, .oneToMany, .manyToMany, .composite: return []
    }
    return try _find(
      "\(_plain(table.name)).\(PostgreSQLNames.plain(column)): without a value, which the model requires",
      table.name,
      "t.\(column) IS NULL AND t.\"entity\" IN (\(_numbers(layout.entityNumber)))")
  }

  /// Keys that the sequence has yet to give.
  private func _keys(_ table: TableMapping) throws -> [Finding] {
    let sequence = PostgreSQLKeys.sequence(of: table)
    let found = try _connection.run(
      """
      SELECT CASE WHEN s.is_called THEN s.last_value + q.seqincrement ELSE s.last_value END FROM \(sequence) s, \
      pg_catalog.pg_sequence q WHERE q.seqrelid = \(PostgreSQLNames.literal(sequence))::regclass
      """, isRepeated: false)
    guard found.rowCount > 0 else { return [] }
    return try _find(
      "\(_plain(table.name)): has a key that will be given to a new object; set the sequence \(_plain(sequence)) beyond it",
      table.name, "\(PostgreSQLKeys.countedPart) >= \(found.int64(0, 0))")
  }

  private func _pairs(_ join: JoinTable) throws -> [Finding] {
    try [(join.first, join.firstEntity), (join.second, join.secondEntity)].flatMap { column, entity in
      let target = _mapping.table(of: entity).name
      return try _find(
        "\(_plain(join.name)).\(PostgreSQLNames.plain(column)): points at a row of \(_plain(target)) that is not there",
        join.name, "NOT EXISTS (SELECT 1 FROM \(target) d WHERE d.\"id\" = t.\(column))", key: "t.\(column)")
    }
  }

  private func _plain(_ name: String) -> String { PostgreSQLNames.parts(name).name }
}
