import CoreDataModelSchema
import CoreDataSQLiteBinding

/// A batch deletion inside a transaction: of the rows found, those that delete rules cascade to, and the
/// references to both.
///
/// Cascade also deletes the members, every other rule clears references to the deleted rows; nullify fails if
/// the reference is mandatory in a remaining row. Deny and counts are validation, which batches skip. All
/// rows of an entity are processed together.
final class BatchDeletion {
  private let _plan: FetchPlan
  private let _engine: SQLiteStoreEngine
  private let _connection: Connection
  private let _entry: HistoryEntry?
  /// External data files of the deleted rows.
  private(set) var files: [String] = []
  /// Keys to delete by entity number, in the order found.
  private var _doomed: [Int: [Int64]] = [:]
  private var _isDoomed: Set<ObjectKey> = []
  private var _found: [ObjectKey] = []

  private var _mapping: StoreMapping { _engine.mapping }

  init(_ plan: FetchPlan, engine: SQLiteStoreEngine, connection: Connection, entry: HistoryEntry?) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
  }

  func run(needsKeys: Bool) throws -> BatchOutcome {
    if !needsKeys, _entry == nil, let count = try _deleteAtOnce() { return BatchOutcome(count: count) }
    var added = try _add(_engine.keys(of: _plan, on: _connection))
    while !added.isEmpty {
      var next: [Int: [Int64]] = [:]
      for (number, keys) in added.ordered(by: { $0.key < $1.key }) {
        for (entity, more) in try _follow(keys, of: number) { next[entity, default: []] += more }
      }
      added = next
    }
    for (number, keys) in _doomed.ordered(by: { $0.key < $1.key }) { try _checkInverses(of: keys, number) }
    for (number, keys) in _doomed.ordered(by: { $0.key < $1.key }) {
      try _keepWhatIsKept(keys, number)
      try _clearReferences(to: keys, of: number)
    }
    var count = 0
    for (number, keys) in _doomed.ordered(by: { $0.key < $1.key }) {
      count += try _run(
        "DELETE FROM \(_mapping.table(of: number).name) WHERE Z_PK IN \(ValueArray.members)", keys)
    }
    for key in _found { try _entry?.recordDeletion(of: key.reference, entity: key.space.layout.entityNumber) }
    return BatchOutcome(count: count, keys: needsKeys ? _found : [])
  }

  /// Runs a single DELETE if nothing depends on the rows: no relationship and no file. Returns nil otherwise.
  private func _deleteAtOnce() throws -> Int? {
    let members = _plan.includesSubentities ? _plan.layout.family : [_plan.layout.entityNumber]
    for number in members {
      let layout = _mapping.layout.layout(numbered: number)
      guard layout.toManySlots.isEmpty, layout.toOneSlots.isEmpty,
        _engine.writePlans.deletes[number - 1].files == nil
      else { return nil }
    }
    for layout in _mapping.layout.layouts {
      for slot in layout.toOneSlots + layout.toManySlots {
        guard let relationship = layout.slots[slot].relationship else { continue }
        if members.contains(relationship.destination) { return nil }
      }
    }
    var rows = _plan
    rows.content = .identity
    let (query, constants) = try _engine.compiled(rows, .objects)
    let table = _mapping.table(of: _plan.layout.entityNumber)
    // A shared table also selects the entity for identity.
    let keys = table.hasSubentities ? "SELECT Z_PK FROM (\(query.sql.text))" : query.sql.text
    let statement = try _connection.prepare("DELETE FROM \(table.name) WHERE Z_PK IN (\(keys))")
    QueryBinder(_engine.context).bind(query.parameters, rows, constants, to: statement)
    try statement.run()
    return _connection.changes
  }

  /// Adds rows that are not listed yet and returns those by entity.
  private func _add(_ keys: [ObjectKey]) -> [Int: [Int64]] {
    var added: [Int: [Int64]] = [:]
    for key in keys where _isDoomed.insert(key).inserted {
      _found.append(key)
      added[key.space.layout.entityNumber, default: []].append(key.reference)
    }
    for (number, keys) in added { _doomed[number, default: []] += keys }
    return added
  }

  /// Returns the rows to which the delete rules of these rows' relationships cascade.
  private func _follow(_ keys: [Int64], of number: Int) throws -> [Int: [Int64]] {
    let layout = _mapping.layout.layout(numbered: number)
    var result: [Int: [Int64]] = [:]
    for (slot, description) in layout.slots.enumerated() {
      guard let relationship = description.relationship, !description.isTransient, !description.isHidden
      else { continue }
      guard relationship.deleteRule == .cascade else { continue }
      for (entity, more) in _add(try _members(of: keys, layout, slot)) {
        result[entity, default: []] += more
      }
    }
    return result
  }

  /// Checks that nullify clears no mandatory reference in remaining rows. A mandatory to-many that loses one
  /// of several members is not checked, like other counts.
  private func _checkInverses(of keys: [Int64], _ number: Int) throws {
    let layout = _mapping.layout.layout(numbered: number)
    for (slot, description) in layout.slots.enumerated() {
      guard let relationship = description.relationship, relationship.deleteRule == .nullify,
        !description.isTransient, !description.isHidden, let inverse = relationship.inverseSlot
      else { continue }
      let destination = _mapping.layout.layout(numbered: relationship.destination)
      let end = destination.slots[inverse]
      guard !end.isOptional, !end.isHidden, description.isToMany || !end.isToMany else { continue }
      if try _members(of: keys, layout, slot).contains(where: { !_isDoomed.contains($0) }) {
        throw BatchInverseError(
          entity: destination.entityName, relationship: end.name,
          kind: description.isToMany ? (end.isToMany ? "MTM" : "OTM") : "OTO")
      }
    }
  }

  private func _members(of keys: [Int64], _ layout: PropertyLayout, _ slot: Int) throws -> [ObjectKey] {
    let number = layout.entityNumber
    if let query = _engine.relationQueries[number - 1][slot] {
      return try _connection.withStatement(query.many) { statement in
        statement.bind(ValueArray(keys), at: 1)
        var result: [ObjectKey] = []
        while try statement.step() { result.append(try query.member(statement, _engine.context)) }
        return result
      }
    }
    guard
      case .toOne(let column, let entityColumn, _, let destination) = _mapping.storage(of: slot, in: number)
    else {
      return []
    }
    let table = _mapping.table(of: number)
    let name = table.columns[column].name
    let entity = entityColumn.map { ", \(table.columns[$0].name)" } ?? ""
    let statement = try _connection.prepare(
      "SELECT \(name)\(entity) FROM \(table.name) WHERE \(name) IS NOT NULL AND Z_PK IN \(ValueArray.members)"
    )
    statement.bind(ValueArray(keys), at: 1)
    var result: [ObjectKey] = []
    while try statement.step() {
      let member = entityColumn == nil ? destination : _mapping.numbers.number(forStored: statement.int64(1))
      guard let member else { continue }
      result.append(ObjectKey(space: _engine.spaces[member - 1], reference: statement.int64(0)))
    }
    return result
  }

  // MARK: References

  private func _keepWhatIsKept(_ keys: [Int64], _ number: Int) throws {
    if let entry = _entry {
      for key in keys { try entry.willDelete(key, entity: number) }
    }
    guard let query = _engine.writePlans.deletes[number - 1].files else { return }
    try _connection.withStatement(query) { statement in
      for key in keys {
        statement.bind(key, at: 1)
        if try statement.step() {
          for column in 0..<statement.columnCount {
            if let name = statement.withBytes(Int32(column), { ExternalDataDirectory.file(named: $0) }) {
              files.append(name)
            }
          }
        }
        statement.reset()
      }
    }
  }

  /// Clears references to these rows in join tables and in to-ones of remaining rows.
  private func _clearReferences(to keys: [Int64], of number: Int) throws {
    let layout = _mapping.layout.layout(numbered: number)
    for (slot, description) in layout.slots.enumerated() {
      guard let relationship = description.relationship, !description.isTransient else { continue }
      switch _mapping.storage(of: slot, in: number) {
      case .manyToMany(let index, let ownerIsFirst, _):
        let join = _mapping.joins[index]
        let ends = join.ends(ownerIsFirst: ownerIsFirst)
        _ = try _run("DELETE FROM \(join.name) WHERE \(ends.owner) IN \(ValueArray.members)", keys)
        if join.isReflexive {
          _ = try _run("DELETE FROM \(join.name) WHERE \(ends.member) IN \(ValueArray.members)", keys)
        }
      case .oneToMany(let destination, let inverse): try _clear(inverse, of: destination, pointingAt: keys)
      case .toOne:
        guard let inverse = relationship.inverseSlot else { continue }
        if case .toOne = _mapping.storage(of: inverse, in: relationship.destination) {
          try _clear(inverse, of: relationship.destination, pointingAt: keys)
        }
      case .none, .attribute, .composite: break
      }
    }
  }

  private func _clear(_ slot: Int, of entity: Int, pointingAt keys: [Int64]) throws {
    guard
      case .toOne(let column, let entityColumn, let orderColumn, _) = _mapping.storage(of: slot, in: entity)
    else {
      return
    }
    let table = _mapping.table(of: entity)
    let condition = "\(table.columns[column].name) IN \(ValueArray.members)"
    if let _entry {
      let names = table.hasSubentities ? "Z_PK, Z_ENT" : "Z_PK"
      let statement = try _connection.prepare("SELECT \(names) FROM \(table.name) WHERE \(condition)")
      statement.bind(ValueArray(keys), at: 1)
      while try statement.step() {
        let number = table.hasSubentities ? _mapping.numbers.number(forStored: statement.int64(1)) : entity
        guard let number else { continue }
        let key = ObjectKey(space: _engine.spaces[number - 1], reference: statement.int64(0))
        if _isDoomed.contains(key) { continue }
        try _entry.recordUpdate(of: key.reference, entity: number, changed: SlotSet([slot]))
      }
    }
    let cleared = [column, entityColumn, orderColumn].compactMap {
      $0.map { "\(table.columns[$0].name) = NULL" }
    }
    let list = (cleared + ["Z_OPT = IFNULL(Z_OPT, 0) + 1"]).joined(separator: ", ")
    _ = try _run("UPDATE \(table.name) SET \(list) WHERE \(condition)", keys)
  }

  private func _run(_ sql: String, _ keys: [Int64]) throws -> Int {
    let statement = try _connection.prepare(sql)
    statement.bind(ValueArray(keys), at: 1)
    try statement.run()
    return _connection.changes
  }
}
