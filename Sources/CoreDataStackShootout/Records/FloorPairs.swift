import CoreData
import CoreDataCSQLite

/// A to-many in a table of pairs of keys.
///
/// A pair keeps its place in the order of either end as long as it stays.
final class FloorPairs: FloorToMany {
  private let _select: OpaquePointer
  private let _delete: [OpaquePointer]
  private let _insert: OpaquePointer
  private let _mirror: OpaquePointer?
  /// Sets a member's place in its owner's order; nil if it has none.
  private let _move: OpaquePointer?
  /// The order columns of both ends that a new pair fills.
  private let _orders: Int
  private let _statements: FloorStatements

  init(_ join: StoreTableLayout.Join, owner: String, _ statements: FloorStatements) throws {
    let isFirst = owner == join.first
    let member = isFirst ? join.second : join.first
    let own = isFirst ? join.secondOrder : join.firstOrder
    let other = isFirst ? join.firstOrder : join.secondOrder
    let orders = [own, other].compactMap(\.self)
    _select = try statements.prepare("SELECT \(member) FROM \(join.name) WHERE \(owner) = ?")
    var delete = [try statements.prepare("DELETE FROM \(join.name) WHERE \(owner) = ? AND \(member) = ?")]
    if join.isReflexive {
      delete.append(try statements.prepare("DELETE FROM \(join.name) WHERE \(member) = ? AND \(owner) = ?"))
    }
    _delete = delete
    let columns = orders.map { ", \($0)" }.joined()
    let marks = orders.map { _ in ", ?" }.joined()
    _insert = try statements.prepare(
      "INSERT OR IGNORE INTO \(join.name) (\(owner), \(member)\(columns)) VALUES (?, ?\(marks))")
    _mirror =
      join.isReflexive
      ? try statements.prepare("INSERT OR IGNORE INTO \(join.name) (\(member), \(owner)) VALUES (?, ?)") : nil
    _move = try own.map {
      try statements.prepare("UPDATE \(join.name) SET \($0) = ? WHERE \(owner) = ? AND \(member) = ?")
    }
    (_orders, _statements) = (orders.count, statements)
  }

  func set(_ owner: FloorRow, to members: [FloorRow], position: inout Int64) throws {
    let wanted = Set(members.map(\.key))
    let present = owner.isNew ? [] : try _members(of: owner)
    for key in present.subtracting(wanted) {
      for statement in _delete { try _statements.run(statement, .integer(owner.key), .integer(key)) }
    }
    var placed: Set<Int64> = []
    // One that is given twice is where it is first.
    for member in members where placed.insert(member.key).inserted {
      position += 1024
      let pair: [FloorCell] = [.integer(owner.key), .integer(member.key)]
      if !present.contains(member.key) {
        // A member inside a new owner may have made the pair already, at its own end.
        let isNew = try _statements.runs(
          _insert, pair + Array(repeating: .integer(position), count: _orders))
        if let _mirror { try _statements.run(_mirror, pair) }
        if !isNew, let _move { try _statements.run(_move, [.integer(position)] + pair) }
      } else if let _move {
        try _statements.run(_move, [.integer(position)] + pair)
      }
    }
  }

  private func _members(of owner: FloorRow) throws -> Set<Int64> {
    sqlite3_bind_int64(_select, 1, owner.key)
    defer { sqlite3_reset(_select) }
    var members: Set<Int64> = []
    while sqlite3_step(_select) == SQLITE_ROW { members.insert(sqlite3_column_int64(_select, 0)) }
    return members
  }
}
