import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// Reads the members of one to-many relationship by their owners' keys.
struct PostgreSQLRelation: Sendable {
  /// Selects the owner's key, the member's key and, where it can differ, the number of the member's entity.
  private let _many: String
  /// For one owner: the server keeps the plan.
  private let _one: String
  private let _table: MemberTable
  private let _numbers: EntityNumbers

  /// Returns nil for a slot that is not a stored to-many.
  init?(slot: Int, in layout: PropertyLayout, _ mapping: StoreMapping) {
    _numbers = mapping.numbers
    guard let table = MemberTable(slot: slot, in: layout, mapping) else { return nil }
    _table = table
    let first = table.position.map { "t0.\($0) NULLS FIRST, " } ?? ""
    let order = " ORDER BY \(first)t0.\(table.member)"
    let selection = "SELECT \(table.columns) FROM \(table.from) WHERE t0.\(table.owner) ="
    _many = "\(selection) ANY($1::int8[])\(order)"
    _one = "\(selection) ($1::int8[])[1]\(order)"
  }

  /// Returns the statement for a number of owners.
  func sql(_ count: Int) -> String { count == 1 ? _one : _many }

  /// Returns the member in one row.
  func member(_ result: PostgreSQLResult, _ row: Int, _ spaces: [ObjectIDSpace]) throws -> ObjectKey {
    let reference = result.int64(row, 1)
    guard _table.isPolymorphic else {
      return ObjectKey(space: spaces[_table.destination - 1], reference: reference)
    }
    guard let number = _numbers.number(forStored: result.int64(row, 2)) else {
      throw PostgreSQLStoreError.unknownEntity(
        result.int64(row, 2), table: spaces[_table.destination - 1].layout.entityName, key: reference)
    }
    return ObjectKey(space: spaces[number - 1], reference: reference)
  }
}
