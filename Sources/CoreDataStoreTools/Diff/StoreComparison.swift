import CoreData
import CoreDataModelSchema
import CoreDataToolKit

/// Finds what has been added to, removed from and changed in a store.
package struct StoreComparison {
  /// One object that differs.
  package struct Change {
    package enum Kind: String { case added, removed, changed }
    package let kind: Kind
    package let entity: String
    package let object: String
    /// Its primary key, in the newer store if it is there.
    package let key: Int64
    /// By property: before and after, of which one is nil for an object that is in one store only.
    package var properties: [(name: String, before: StoreSide.Content?, after: StoreSide.Content?)] = []
  }

  package struct Counts: Equatable {
    package var (added, removed, changed, same) = (0, 0, 0, 0)
    package var isEmpty: Bool { added + removed + changed == 0 }
  }

  private let _old: StoreSide
  private let _new: StoreSide
  /// Names of the entities of both stores, in the order of the newer model.
  package let entities: [String]

  /// - Parameter only: Entities to be compared; nil for all.
  package init(_ old: StoreSide, _ new: StoreSide, only: [String]? = nil) {
    (_old, _new) = (old, new)
    let current = new.layout.layouts.filter { !$0.isAbstract }.map(\.entityName)
    let former = old.layout.layouts.filter { !$0.isAbstract }.map(\.entityName).filter {
      !current.contains($0)
    }
    entities = (current + former).filter { only?.contains($0) ?? true }
  }

  /// The properties that one of the two models lacks, each with the name of its entity, and entities that one of them lacks.
  package var differencesOfModels: (onlyOld: [String], onlyNew: [String]) {
    func names(_ side: StoreSide, _ other: StoreSide) -> [String] {
      entities.flatMap { name -> [String] in
        guard let entity = side.layout.layoutsByName[name] else { return [] }
        guard let counterpart = other.layout.layoutsByName[name] else { return [name] }
        let known = Set(other.properties(of: counterpart))
        return side.properties(of: entity).filter { !known.contains($0) }.map { "\(name).\($0)" }
      }
    }
    return (names(_old, _new), names(_new, _old))
  }

  /// - Parameters:
  ///   - progress: Called with the progress, 0 to 1, and the entity.
  ///   - report: Called with each change: of each entity the removed and changed objects first.
  /// - Returns: Counts by entity.
  package func run(
    progress: (Double, String) -> Void, _ report: (Change) throws -> Void
  ) throws -> [String: Counts] {
    let (before, after) = (try _old.reader.counts(), try _new.reader.counts())
    let total = max(1, before.values.reduce(0, +) + after.values.reduce(0, +))
    var done = 0
    var result: [String: Counts] = [:]
    for name in entities {
      var counts = Counts()
      func advance() {
        done += 1
        if done % 64 == 0 { progress(Double(done) / Double(total), name) }
      }
      let (old, new) = (_old.layout.layoutsByName[name], _new.layout.layoutsByName[name])
      let isKeyed = new.map(_new.isKeyed) ?? old.map(_old.isKeyed) ?? false
      let oldRows = try isKeyed ? old.map { try _index(_old, $0) } : nil
      let newRows = try isKeyed ? new.map { try _index(_new, $0) } : nil
      if let old {
        try _old.reader.forEachRow(of: old.entityNumber) { row in
          advance()
          guard let other = try _counterpart(row, of: _old, in: new, _new, newRows) else {
            counts.removed += 1
            return try report(try _single(.removed, row, _old, old))
          }
          let change = try _compare(row, other, name)
          if change.properties.isEmpty { counts.same += 1 } else { counts.changed += 1; try report(change) }
        }
      }
      // By primary key each object of one store is at most one of the other: if all have been met, none is new.
      let isComplete = !isKeyed && new.map { after[$0.entityNumber] ?? 0 } == counts.same + counts.changed
      if let new, !isComplete {
        try _new.reader.forEachRow(of: new.entityNumber) { row in
          advance()
          guard try _counterpart(row, of: _new, in: old, _old, oldRows) == nil else { return }
          counts.added += 1
          try report(try _single(.added, row, _new, new))
        }
      }
      result[name] = counts
    }
    return result
  }

  /// Primary keys by the objects' names. Of several objects with one key the last counts.
  private func _index(_ side: StoreSide, _ entity: PropertyLayout) throws -> [String: Int64] {
    var keys: [String: Int64] = [:]
    try side.reader.forEachRow(of: entity.entityNumber) { keys[side.name($0)] = $0.reference.key }
    return keys
  }

  private func _counterpart(
    _ row: StoredRow, of side: StoreSide, in entity: PropertyLayout?, _ other: StoreSide,
    _ keys: [String: Int64]?
  ) throws -> StoredRow? {
    guard let entity else { return nil }
    let key: Int64
    if let keys {
      guard let found = keys[side.name(row)] else { return nil }
      key = found
    } else {
      key = row.reference.key
    }
    let found = try other.reader.row(StoredReference(entity: entity.entityNumber, key: key))
    // The row of a table may be another entity's.
    return found?.reference.entity == entity.entityNumber ? found : nil
  }

  private func _single(
    _ kind: Change.Kind, _ row: StoredRow, _ side: StoreSide, _ entity: PropertyLayout
  ) throws -> Change {
    var change = Change(kind: kind, entity: entity.entityName, object: side.name(row), key: row.reference.key)
    for property in side.properties(of: entity) {
      let content = try side.content(property, row)
      if content == .value("null") || content == .members([], isOrdered: true)
        || content == .members([], isOrdered: false)
      {
        continue
      }
      change.properties.append(
        kind == .added ? (property, nil, content) : (property, content, nil))
    }
    return change
  }

  private func _compare(_ old: StoredRow, _ new: StoredRow, _ name: String) throws -> Change {
    var change = Change(kind: .changed, entity: name, object: _new.name(new), key: new.reference.key)
    guard let (before, after) = _layouts(name) else { return change }
    let known = Set(_new.properties(of: after))
    for property in _old.properties(of: before) where known.contains(property) {
      // Attributes of one type are compared before they become text.
      if let one = before.slot(named: property), let other = after.slot(named: property),
        before.slots[one].isAttribute, before.slots[one].type == after.slots[other].type,
        old.values[one] == new.values[other]
      {
        continue
      }
      let (one, other) = (try _old.content(property, old), try _new.content(property, new))
      if one != other { change.properties.append((property, one, other)) }
    }
    return change
  }

  private func _layouts(_ name: String) -> (PropertyLayout, PropertyLayout)? {
    guard let old = _old.layout.layoutsByName[name], let new = _new.layout.layoutsByName[name] else {
      return nil
    }
    return (old, new)
  }
}
