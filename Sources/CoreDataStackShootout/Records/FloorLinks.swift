import CoreData
import CoreDataModelSchema

/// A row of the floor.
struct FloorRow {
  let entity: PropertyLayout
  let key: Int64
  let isNew: Bool
  /// Targets of the to-ones as read, by column.
  let targets: [String: Int64]
}

/// Sets a to-one, at both ends if the inverse is a to-one as well.
final class FloorToOne {
  private let _column: String
  private let _statements: FloorStatements
  private let _anatomy: StoreTableLayout
  private let _point: FloorPointer
  private let _inverse: (clear: OpaquePointer, clearMine: OpaquePointer, point: FloorPointer)?

  init(
    _ columns: StoreTableLayout.ToOneColumns, in entity: Int, _ anatomy: StoreTableLayout,
    _ statements: FloorStatements
  )
    throws
  {
    (_column, _statements, _anatomy) = (columns.column, statements, anatomy)
    let table = anatomy.table(of: entity).name
    _point = try FloorPointer(
      table, columns.column, columns.entityColumn, columns.orderColumn, anatomy, statements)
    guard let inverse = columns.inverseColumn else {
      _inverse = nil
      return
    }
    let other = anatomy.table(of: columns.destination).name
    func clear(_ table: String, _ column: String, _ entityColumn: String?) throws -> OpaquePointer {
      let also = entityColumn.map { ", \($0) = NULL" } ?? ""
      return try statements.prepare("UPDATE \(table) SET \(column) = NULL\(also) WHERE \(column) = ?")
    }
    _inverse = (
      try clear(other, inverse, columns.inverseEntityColumn),
      try clear(table, columns.column, columns.entityColumn),
      try FloorPointer(other, inverse, columns.inverseEntityColumn, nil, anatomy, statements)
    )
  }

  func set(_ row: FloorRow, to target: FloorRow?, position: inout Int64) throws {
    guard row.isNew ? target != nil : row.targets[_column] != target?.key else { return }
    if let _inverse {
      try _statements.run(_inverse.clear, .integer(row.key))
      if let target {
        try _statements.run(_inverse.clearMine, .integer(target.key))
        try _inverse.point.set(target, at: row, position: &position)
      }
    }
    try _point.set(row, at: target, position: &position)
  }
}

/// Sets the columns that lead from a row to another.
final class FloorPointer {
  private let _statement: OpaquePointer
  private let _hasEntity: Bool
  private let _isOrdered: Bool
  private let _anatomy: StoreTableLayout
  private let _statements: FloorStatements

  init(
    _ table: String, _ column: String, _ entityColumn: String?, _ orderColumn: String?,
    _ anatomy: StoreTableLayout,
    _ statements: FloorStatements
  ) throws {
    let columns = [column, entityColumn, orderColumn].compactMap { $0.map { "\($0) = ?" } }.joined(
      separator: ", ")
    _statement = try statements.prepare("UPDATE \(table) SET \(columns) WHERE Z_PK = ?")
    (_hasEntity, _isOrdered) = (entityColumn != nil, orderColumn != nil)
    (_anatomy, _statements) = (anatomy, statements)
  }

  func set(_ row: FloorRow, at target: FloorRow?, position: inout Int64) throws {
    var cells: [FloorCell] = [target.map { .integer($0.key) } ?? .null]
    if _hasEntity {
      cells.append(target.map { .integer(Int64(_anatomy.storedNumber(of: $0.entity.entityNumber))) } ?? .null)
    }
    if _isOrdered {
      position += 1024
      cells.append(target == nil ? .null : .integer(position))
    }
    cells.append(.integer(row.key))
    try _statements.run(_statement, cells)
  }
}

/// Sets the members of a to-many.
protocol FloorToMany {
  func set(_ owner: FloorRow, to members: [FloorRow], position: inout Int64) throws
}

/// A to-many in columns of the members' table.
final class FloorMemberColumns: FloorToMany {
  private let _clear: OpaquePointer
  private let _point: FloorPointer
  private let _statements: FloorStatements

  init(
    _ table: String, _ key: String, _ entity: String?, _ order: String?, _ anatomy: StoreTableLayout,
    _ statements: FloorStatements
  ) throws {
    let also = [entity, order].compactMap { $0.map { ", \($0) = NULL" } }.joined()
    _clear = try statements.prepare("UPDATE \(table) SET \(key) = NULL\(also) WHERE \(key) = ?")
    _point = try FloorPointer(table, key, entity, order, anatomy, statements)
    _statements = statements
  }

  func set(_ owner: FloorRow, to members: [FloorRow], position: inout Int64) throws {
    if !owner.isNew { try _statements.run(_clear, .integer(owner.key)) }
    for member in members { try _point.set(member, at: owner, position: &position) }
  }
}
