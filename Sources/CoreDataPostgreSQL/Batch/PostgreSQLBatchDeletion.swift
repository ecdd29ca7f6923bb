import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding
import Foundation

/// One batch deletion inside a transaction: the rows found, the rows that cascade to, and the references to
/// them.
///
/// Cascade rules delete the members as well; every other rule clears the references to the deleted rows.
/// Nullify fails if that would clear a mandatory relationship of a remaining row. Deny rules and count limits
/// are validation, which batches skip. Each step handles all rows of an entity at once.
final class PostgreSQLBatchDeletion {
  private let _plan: FetchPlan
  private let _engine: PostgreSQLStoreEngine
  private let _connection: PostgreSQLConnection
  private let _entry: PostgreSQLHistoryEntry?
  /// Keys to delete by entity number, in the order they were found.
  private var _doomed: [Int: [Int64]] = [:]
  private var _isDoomed: Set<ObjectKey> = []
  private var _found: [ObjectKey] = []

  private var _mapping: StoreMapping { _engine.mapping }

  init(
    _ plan: FetchPlan, engine: PostgreSQLStoreEngine, connection: PostgreSQLConnection,
    entry: PostgreSQLHistoryEntry?
  ) {
    _plan = plan
    _engine = engine
    _connection = connection
    _entry = entry
  }

  func run(needsKeys: Bool) throws -> BatchOutcome {
    var added = _add(try _engine.keys(_plan, on: _connection))
    while !added.isEmpty {
      var next: [Int: [Int64]] = [:]
      for (number, keys) in added.sorted(by: { $0.key < $1.key }) {
        for (entity, more) in try _follow(keys, of: number) { next[entity, default: []] += more }
      }
      added = next
    }
    let doomed = _doomed.sorted { $0.key < $1.key }
    for (number, keys) in doomed { try _checkInverses(of: keys, number) }
    try _entry?.recordDeletions(of: _found)
    for (number, keys) in doomed { try _clearReferences(to: keys, of: number) }
    var count = 0
    for (number, keys) in doomed {
      count += try _run("DELETE FROM \(_mapping.table(of: number).name) WHERE \"id\" = ANY($1::int8[])", keys)
        .affectedCount
    }
    return BatchOutcome(count: count, keys: needsKeys ? _found : [])
  }

  private func _run(_ sql: String, _ keys: [Int64]) throws -> PostgreSQLResult {
    var parameters = PostgreSQLParameters()
    parameters.add(PostgreSQLArray(keys))
    return try _connection.run(sql, parameters)
  }

  /// Adds rows that are not listed yet, and returns these by entity.
  private func _add(_ keys: [ObjectKey]) -> [Int: [Int64]] {
    var added: [Int: [Int64]] = [:]
    for key in keys where _isDoomed.insert(key).inserted {
      _found.append(key)
      added[key.space.layout.entityNumber, default: []].append(key.reference)
    }
    for (number, keys) in added { _doomed[number, default: []] += keys }
    return added
  }

  /// Returns the rows that the delete rules of these rows' relationships cascade to.
  private func _follow(_ keys: [Int64], of number: Int) throws -> [Int: [Int64]] {
    let layout = _mapping.layout.layout(numbered: number)
    var result: [Int: [Int64]] = [:]
    for (slot, description) in layout.slots.enumerated() {
      guard let relationship = description.relationship, !description.isTransient, !description.isHidden,
        relationship.deleteRule == .cascade
      else { continue }
      for (entity, more) in _add(try _members(of: keys, layout, slot)) { result[entity, default: []] += more }
    }
    return result
  }

  /// Throws if nullifying would clear a mandatory relationship of a remaining row.
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
        throw _inverseError(
          "\(destination.entityName).\(end.name)",
          description.isToMany ? (end.isToMany ? "MTM" : "OTM") : "OTO")
      }
    }
  }

  /// Returns Core Data's error for a mandatory relationship that would be left empty.
  private func _inverseError(_ property: String, _ kind: String) -> any Error {
    let reason =
      "Constraint trigger violation: Batch delete failed due to mandatory \(kind) nullify inverse on "
      + property.replacingOccurrences(of: ".", with: "/")
    return CocoaError(
      CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError),
      userInfo: [
        NSLocalizedDescriptionKey:
          "\(reason). Nothing was deleted: '\(property)' is mandatory, and objects that stay would lose what it holds. Delete "
          + "those objects as well, use the rule Cascade, or make the relationship optional.",
        NSLocalizedFailureReasonErrorKey: reason,
      ])
  }

  private func _members(of keys: [Int64], _ layout: PropertyLayout, _ slot: Int) throws -> [ObjectKey] {
    let number = layout.entityNumber
    if let relation = _engine.relations[number - 1][slot] {
      let found = try _run(relation.sql, keys)
      return try (0..<found.rowCount).map { try relation.member(found, $0, _engine.spaces) }
    }
    guard
      case .toOne(let column, let entityColumn, _, let destination) = _mapping.storage(of: slot, in: number)
    else { return [] }
    let table = _mapping.table(of: number)
    let name = table.columns[column].name
    let entity = entityColumn.map { ", \(table.columns[$0].name)" } ?? ""
    let found = try _run(
      "SELECT \(name)\(entity) FROM \(table.name) WHERE \(name) IS NOT NULL AND \"id\" = ANY($1::int8[])",
      keys)
    return (0..<found.rowCount).compactMap { row in
      let member = entityColumn == nil ? destination : Int(clamping: found.int64(row, 1))
      guard _engine.spaces.indices.contains(member - 1) else { return nil }
      return ObjectKey(space: _engine.spaces[member - 1], reference: found.int64(row, 0))
    }
  }

  /// Clears the references to these rows, in join tables and in to-ones of remaining rows.
  private func _clearReferences(to keys: [Int64], of number: Int) throws {
    let layout = _mapping.layout.layout(numbered: number)
    for (slot, description) in layout.slots.enumerated() {
      guard let relationship = description.relationship, !description.isTransient else { continue }
      switch _mapping.storage(of: slot, in: number) {
      case .manyToMany(let index, let ownerIsFirst, _):
        let join = _mapping.joins[index]
        let ends = join.ends(ownerIsFirst: ownerIsFirst)
        _ = try _run("DELETE FROM \(join.name) WHERE \(ends.owner) = ANY($1::int8[])", keys)
        if join.isReflexive {
          _ = try _run("DELETE FROM \(join.name) WHERE \(ends.member) = ANY($1::int8[])", keys)
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
    else { return }
    let table = _mapping.table(of: entity)
    let cleared = [column, entityColumn, orderColumn].compactMap {
      $0.map { "\(table.columns[$0].name) = NULL" }
    }
    let list = (cleared + ["\"version\" = \"version\" + 1"]).joined(separator: ", ")
    let found = try _run(
      """
      UPDATE \(table.name) SET \(list) WHERE \(table.columns[column].name) = ANY($1::int8[]) RETURNING "id", "entity"
      """, keys)
    guard let entry = _entry else { return }
    for row in 0..<found.rowCount {
      let number = Int(clamping: found.int64(row, 1))
      guard _engine.spaces.indices.contains(number - 1) else { continue }
      let key = ObjectKey(space: _engine.spaces[number - 1], reference: found.int64(row, 0))
      if !_isDoomed.contains(key) {
        entry.recordUpdate(of: key.reference, entity: number, changed: SlotSet([slot]))
      }
    }
  }
}
