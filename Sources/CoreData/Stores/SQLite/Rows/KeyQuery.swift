import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Reads rows of one entity, subentities included, by primary key.
final class KeyQuery: Sendable {
  let one: SQLText
  let many: SQLText
  let reader: RowReader

  init(_ layout: PropertyLayout, reader: RowReader, mapping: StoreMapping) {
    let table = mapping.table(of: layout.entityNumber).name
    one = SQLText("SELECT \(reader.selectList) FROM \(table) t0 WHERE t0.Z_PK = ?")
    many = SQLText(
      "SELECT \(reader.selectList) FROM \(table) t0 WHERE t0.Z_PK IN \(ValueArray.members)"
    )
    self.reader = reader
  }
}

/// Reads the members of one to-many relationship by their owners' keys.
///
/// Selects the owner's key, the member's key, and the member's Z_ENT if it can vary.
struct RelationQuery: Sendable {
  let one: SQLText
  let many: SQLText
  /// Reads the members of one owner with their values, if these are cheap to read along.
  let whole: (sql: SQLText, reader: RowReader)?
  private let _table: MemberTable

  /// Nil for a slot that is not a stored to-many.
  ///
  /// - Parameter readers: Readers of each entity with its subentities, by entity number - 1; without them,
  ///   members are read by key only.
  init?(slot: Int, in layout: PropertyLayout, context: RowReader.Context, readers: [RowReader] = []) {
    guard let table = MemberTable(slot: slot, in: layout, context.mapping) else { return nil }
    let owner = "t0.\(table.owner)"
    let order = table.position.map { " ORDER BY t0.\($0), t0.\(table.member)" } ?? ""
    let reader = readers.indices.contains(table.destination - 1) ? readers[table.destination - 1] : nil
    if table.isOfMembers, let reader, reader.format != nil {
      whole = (SQLText("SELECT \(reader.selectList) FROM \(table.from) WHERE \(owner) = ?\(order)"), reader)
    } else {
      whole = nil
    }
    _table = table
    let selection = "SELECT \(table.columns) FROM \(table.from) WHERE \(owner)"
    one = SQLText("\(selection) = ?\(order)")
    many = SQLText("\(selection) IN \(ValueArray.members)\(order)")
  }

  /// Returns the member in the statement's current row.
  func member(_ statement: Statement, _ context: RowReader.Context) throws -> ObjectKey {
    let reference = statement.int64(1)
    guard _table.isPolymorphic else {
      return ObjectKey(space: context.spaces[_table.destination - 1], reference: reference)
    }
    let stored = statement.int64(2)
    guard let number = context.numbers.number(forStored: stored) else {
      throw SQLiteStoreError.corruptRow(
        table: _table.name, key: reference, reason: "the model has no entity number \(stored)")
    }
    return ObjectKey(space: context.spaces[number - 1], reference: reference)
  }
}
