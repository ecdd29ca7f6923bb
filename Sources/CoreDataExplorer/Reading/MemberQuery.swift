import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools

/// Finds the objects at the other end of a relationship, with their labels.
struct MemberQuery {
  private let _store: ExploredStore
  private let _reader: StoreReader

  init(_ store: ExploredStore, _ reader: StoreReader) { (_store, _reader) = (store, reader) }

  /// Members of a to-many, in order if it is ordered, otherwise by key.
  func members(
    of entity: PropertyLayout, _ key: Int64, slot: Int, from offset: Int, limit: Int
  ) throws -> [ObjectLink] {
    guard let relationship = entity.slots[slot].relationship,
      let place = _reader.anatomy.toMany(slot, of: entity.entityNumber)
    else { return [] }
    let destination = _store.layout.layout(numbered: relationship.destination)
    let keys: String
    switch place {
    case .columns(let table, let column, _, let order, _):
      keys = "SELECT Z_PK FROM \(table) WHERE \(column) = ? ORDER BY \(order.map { $0 + ", " } ?? "")Z_PK"
    case .pairs(let table, let owner, let member, let order, _):
      keys =
        "SELECT \(member) FROM \(table) WHERE \(owner) = ? ORDER BY \(order.map { $0 + ", " } ?? "")\(member)"
    }
    var found: [Int64] = []
    try _reader.connection.query("\(keys) LIMIT \(limit) OFFSET \(offset)", [.int(key)]) {
      found.append($0.int64(0))
    }
    return try links(destination, found)
  }

  /// Rows that have a key in one of their columns.
  func rows(of entity: PropertyLayout, where column: String, equals key: Int64, limit: Int) throws
    -> [ObjectLink]
  {
    let table = _reader.anatomy.table(of: entity.entityNumber).name
    var found: [Int64] = []
    try _reader.connection.query(
      "SELECT Z_PK FROM \(table) WHERE \(column) = ? ORDER BY Z_PK LIMIT \(limit)", [.int(key)]
    ) { found.append($0.int64(0)) }
    return try links(entity, found)
  }

  /// Links to the rows with these keys, in their order. Omits keys without a row.
  func links(_ entity: PropertyLayout, _ keys: [Int64]) throws -> [ObjectLink] {
    let label = _store.labels.attribute(of: entity)
    let path = label.flatMap { try? PropertyPath($0, of: entity, in: _store.layout) }
    let rows = try CellQuery(_store, _reader, entity, path.map { [$0] } ?? [], textLimit: 80).rows(keys)
    return rows.map { row in
      var text: String?
      if case .text(let found, _)? = row.cells.first, !found.isEmpty { text = found }
      let own = row.entity.map { _store.layout.layout(numbered: $0) } ?? entity
      return ObjectLink(entity: own.entityName, key: row.key, label: text)
    }
  }
}
