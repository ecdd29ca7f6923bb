import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// Reads the members of one to-many relationship by their owners' keys.
struct PostgreSQLRelation: Sendable {
  /// Selects the owner's key, the member's key and, where it can differ, the number of the member's entity.
  private let _many: String
  /// For one owner: the server keeps the plan.
  private let _one: String
  private let _destination: Int
  private let _isPolymorphic: Bool
  private let _numbers: EntityNumbers

  /// Returns nil for a slot that is not a stored to-many.
  init?(slot: Int, in layout: PropertyLayout, _ mapping: StoreMapping) {
    _numbers = mapping.numbers
    let columns: String, from: String, owner: String, order: String
    switch mapping.storage(of: slot, in: layout.entityNumber) {
    case .oneToMany(let destination, let inverse):
      guard case .toOne(let key, _, let orderColumn, _) = mapping.storage(of: inverse, in: destination) else {
        return nil
      }
      let table = mapping.table(of: destination)
      _destination = destination
      _isPolymorphic = table.hasSubentities
      owner = "t0.\(table.columns[key].name)"
      columns = "\(owner), t0.\"id\"" + (_isPolymorphic ? ", t0.\"entity\"" : "")
      from = "\(table.name) t0"
      let first = orderColumn.map { "t0.\(table.columns[$0].name) NULLS FIRST, " } ?? ""
      order = " ORDER BY \(first)t0.\"id\""
    case .manyToMany(let index, let ownerIsFirst, let destination):
      let join = mapping.joins[index]
      let ends = join.ends(ownerIsFirst: ownerIsFirst)
      let table = mapping.table(of: destination)
      _destination = destination
      _isPolymorphic = table.hasSubentities
      owner = "t0.\(ends.owner)"
      columns = "\(owner), t0.\(ends.member)" + (_isPolymorphic ? ", t1.\"entity\"" : "")
      from =
        "\(join.name) t0" + (_isPolymorphic ? " JOIN \(table.name) t1 ON t0.\(ends.member) = t1.\"id\"" : "")
      let first = ends.order.map { "t0.\($0) NULLS FIRST, " } ?? ""
      order = " ORDER BY \(first)t0.\(ends.member)"
    case .none, .attribute, .toOne, .composite: return nil
    }
    let selection = "SELECT \(columns) FROM \(from) WHERE \(owner) ="
    _many = "\(selection) ANY($1::int8[])\(order)"
    _one = "\(selection) ($1::int8[])[1]\(order)"
  }

  /// Returns the statement for a number of owners.
  func sql(_ count: Int) -> String { count == 1 ? _one : _many }

  /// Returns the member in one row.
  func member(_ result: PostgreSQLResult, _ row: Int, _ spaces: [ObjectIDSpace]) throws -> ObjectKey {
    let reference = result.int64(row, 1)
    guard _isPolymorphic else { return ObjectKey(space: spaces[_destination - 1], reference: reference) }
    guard let number = _numbers.number(forStored: result.int64(row, 2)) else {
      throw PostgreSQLStoreError.unknownEntity(
        result.int64(row, 2), table: spaces[_destination - 1].layout.entityName, key: reference)
    }
    return ObjectKey(space: spaces[number - 1], reference: reference)
  }
}
