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
  private let _destination: Int
  private let _isPolymorphic: Bool
  private let _tableName: String

  /// Nil for a slot that is not a stored to-many.
  ///
  /// - Parameter readers: Readers of each entity with its subentities, by entity number - 1; without them,
  ///   members are read by key only.
  init?(slot: Int, in layout: PropertyLayout, context: RowReader.Context, readers: [RowReader] = []) {
    let mapping = context.mapping
    let columns: String, from: String, owner: String, order: String
    switch mapping.storage(of: slot, in: layout.entityNumber) {
    case .oneToMany(let destination, let inverse):
      guard case .toOne(let key, _, let orderColumn, _) = mapping.storage(of: inverse, in: destination) else {
        return nil
      }
      let table = mapping.table(of: destination)
      _destination = destination
      // The table is shared if any of its entities has subentities, regardless of the destination.
      _isPolymorphic = table.hasSubentities
      owner = "t0.\(table.columns[key].name)"
      columns = "\(owner), t0.Z_PK" + (_isPolymorphic ? ", t0.Z_ENT" : "")
      from = "\(table.name) t0"
      order = orderColumn.map { " ORDER BY t0.\(table.columns[$0].name), t0.Z_PK" } ?? ""
      _tableName = table.name
      if readers.indices.contains(destination - 1), readers[destination - 1].format != nil {
        let reader = readers[destination - 1]
        whole = (SQLText("SELECT \(reader.selectList) FROM \(from) WHERE \(owner) = ?\(order)"), reader)
      } else {
        whole = nil
      }
    case .manyToMany(let index, let ownerIsFirst, let destination):
      let join = mapping.joins[index]
      let ends = join.ends(ownerIsFirst: ownerIsFirst)
      let table = mapping.table(of: destination)
      _destination = destination
      _isPolymorphic = table.hasSubentities
      owner = "t0.\(ends.owner)"
      columns = "\(owner), t0.\(ends.member)" + (_isPolymorphic ? ", t1.Z_ENT" : "")
      from =
        "\(join.name) t0" + (_isPolymorphic ? " JOIN \(table.name) t1 ON t0.\(ends.member) = t1.Z_PK" : "")
      order = ends.order.map { " ORDER BY t0.\($0), t0.\(ends.member)" } ?? ""
      _tableName = join.name
      whole = nil
    case .none, .attribute, .toOne, .composite: return nil
    }
    one = SQLText("SELECT \(columns) FROM \(from) WHERE \(owner) = ?\(order)")
    many = SQLText(
      "SELECT \(columns) FROM \(from) WHERE \(owner) IN \(ValueArray.members)\(order)"
    )
  }

  /// Returns the member in the statement's current row.
  func member(_ statement: Statement, _ context: RowReader.Context) throws -> ObjectKey {
    let reference = statement.int64(1)
    guard _isPolymorphic else {
      return ObjectKey(space: context.spaces[_destination - 1], reference: reference)
    }
    let stored = statement.int64(2)
    guard let number = context.numbers.number(forStored: stored) else {
      throw SQLiteStoreError.corruptRow(
        table: _tableName, key: reference, reason: "the model has no entity number \(stored)")
    }
    return ObjectKey(space: context.spaces[number - 1], reference: reference)
  }
}
