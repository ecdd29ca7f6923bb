import CoreData
import CoreDataModelSchema

/// SQL for the value at a path, from a row of the entity's table: nested selects by primary key, one per
/// step.
struct CellExpression {
  private let _anatomy: StoreTableLayout
  private let _layout: ModelLayout

  init(_ anatomy: StoreTableLayout) {
    _anatomy = anatomy
    _layout = anatomy.layout
  }

  /// Returns the cell of an attribute or of an element of a composite; nil if the file has no such column.
  func attribute(_ names: ArraySlice<String>, of entity: Int, alias: String) -> (
    sql: String, isExternal: Bool
  )? {
    guard let first = names.first else { return nil }
    let table = _anatomy.table(of: entity)
    let property = names.joined(separator: ".")
    let columns = table.attributes.filter { $0.property == property && _isRelated($0.owner, entity) }
    if let column = columns.first {
      return (_first(of: columns.map { "\(alias).\($0.column)" }), column.isExternal)
    }
    guard let step = _toOne(first, entity, alias),
      let inner = attribute(names.dropFirst(), of: step.destination, alias: alias + "n")
    else { return nil }
    return (_follow(step, alias, inner.sql), inner.isExternal)
  }

  /// Returns the primary key in a to-one.
  func toOne(_ names: ArraySlice<String>, of entity: Int, alias: String) -> (sql: String, destination: Int)? {
    guard let first = names.first, let step = _toOne(first, entity, alias) else { return nil }
    if names.count == 1 { return (step.sql, step.destination) }
    guard let inner = toOne(names.dropFirst(), of: step.destination, alias: alias + "n") else { return nil }
    return (_follow(step, alias, inner.sql), inner.destination)
  }

  /// The number of members of a to-many, at most `limit`.
  func count(
    _ names: ArraySlice<String>, of entity: Int, alias: String, owner: Int, slot: Int, limit: Int
  ) -> String? {
    guard names.count > 1 else { return members(slot, of: owner, key: "\(alias).Z_PK", limit: limit) }
    guard let step = _toOne(names[names.startIndex], entity, alias),
      let inner = count(
        names.dropFirst(), of: step.destination, alias: alias + "n", owner: owner, slot: slot, limit: limit)
    else { return nil }
    return _follow(step, alias, inner)
  }

  /// The number of members of an object's to-many, at most `limit`.
  func members(_ slot: Int, of entity: Int, key: String, limit: Int) -> String? {
    switch _anatomy.toMany(slot, of: entity) {
    case .columns(let table, let column, _, _, _):
      return "(SELECT COUNT(*) FROM (SELECT 1 FROM \(table) WHERE \(column) = \(key) LIMIT \(limit)))"
    case .pairs(let table, let owner, _, _, _):
      return "(SELECT COUNT(*) FROM (SELECT 1 FROM \(table) WHERE \(owner) = \(key) LIMIT \(limit)))"
    case nil: return nil
    }
  }

  /// Z_ENT of the row with a key, in the table of an entity.
  func entity(of key: String, in entity: Int) -> String {
    "(SELECT e.Z_ENT FROM \(_anatomy.table(of: entity).name) e WHERE e.Z_PK = \(key))"
  }

  /// An attribute of the row with a key.
  func attribute(_ name: String, ofRow key: String, in entity: Int) -> String? {
    guard let found = attribute([name], of: entity, alias: "l") else { return nil }
    return "(SELECT \(found.sql) FROM \(_anatomy.table(of: entity).name) l WHERE l.Z_PK = \(key))"
  }

  // MARK: Steps

  private func _toOne(_ name: String, _ entity: Int, _ alias: String) -> (sql: String, destination: Int)? {
    let found = _anatomy.table(of: entity).toOnes.filter {
      $0.property == name && !$0.isHidden && _isRelated($0.owner, entity)
    }
    guard let destination = found.first?.destination else { return nil }
    return (_first(of: found.map { "\(alias).\($0.column)" }), destination)
  }

  private func _follow(_ step: (sql: String, destination: Int), _ alias: String, _ inner: String) -> String {
    let table = _anatomy.table(of: step.destination).name
    return "(SELECT \(inner) FROM \(table) \(alias)n WHERE \(alias)n.Z_PK = \(step.sql))"
  }

  /// Whether rows of the entity can have the other entity's properties: it inherits them, or a subentity has
  /// them.
  private func _isRelated(_ owner: Int, _ entity: Int) -> Bool {
    let layout = _layout.layout(numbered: entity)
    return layout.family.contains(owner) || _layout.layout(numbered: owner).family.contains(entity)
  }

  /// Returns the first value that is not null. Sibling entities may each have a column for a property of the
  /// same name, of which a row uses at most one.
  private func _first(of columns: [String]) -> String {
    columns.count == 1 ? columns[0] : "COALESCE(\(columns.joined(separator: ", ")))"
  }
}
