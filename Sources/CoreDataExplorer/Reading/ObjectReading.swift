import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import Foundation

/// The contents of the store that an object's page shows.
struct ObjectReading: Sendable {
  /// An attribute with its value.
  struct Attribute: Sendable {
    /// With the composite's name before an element's.
    let name: String
    let schema: AttributeSchema
    let cell: Cell
  }

  /// A relationship with the objects at its other end.
  struct Relationship: Sendable {
    let name: String
    let destination: String
    let isToMany: Bool
    let isOrdered: Bool
    let inverse: String?
    /// The first of them.
    let members: [ObjectLink]
    /// Whether there are more.
    let isMore: Bool
    /// The key of a dangling to-one.
    let dangling: Int64?
  }

  /// Objects that have this one in a relationship without inverse.
  struct Referrers: Sendable {
    let relationship: String
    let members: [ObjectLink]
    let isMore: Bool
  }

  /// A cell of the row as SQLite stores it.
  struct RawCell: Sendable {
    let column: String
    let storage: String
    let value: String
  }

  let entity: PropertyLayout
  let link: ObjectLink
  let attributes: [Attribute]
  let relationships: [Relationship]
  let referrers: [Referrers]
  let table: String
  let raw: [RawCell]

  /// Nil if the row does not exist.
  init?(entity asked: PropertyLayout, key: Int64, _ store: ExploredStore, _ reader: StoreReader) throws {
    // The address may name an ancestor of the object's entity.
    guard let row = try CellQuery(store, reader, asked, [], textLimit: 1).rows([key]).first,
      let number = row.entity, store.layout.layout(numbered: number).rootNumber == asked.rootNumber
    else { return nil }
    let entity = store.layout.layout(numbered: number)
    self.entity = entity
    let paths = Self._attributes(of: entity, store.layout)
    let query = CellQuery(
      store, reader, entity, paths.map(\.path), textLimit: store.limits.objectText,
      blobLimit: store.limits.archiveBytes)
    guard let cells = try query.rows([key]).first?.cells else { return nil }
    attributes = zip(paths, cells).map { Attribute(name: $0.path.text, schema: $0.schema, cell: $1) }
    let labelName = store.labels.attribute(of: entity)
    var label: String?
    for attribute in attributes where attribute.name == labelName {
      if case .text(let text, _) = attribute.cell, !text.isEmpty { label = String(text.prefix(80)) }
    }
    link = ObjectLink(entity: entity.entityName, key: key, label: label)
    let members = MemberQuery(store, reader)
    relationships = try Self._relationships(entity, key, store, members, query: reader)
    referrers = try Self._referrers(entity, key, store, reader, members)
    table = reader.anatomy.table(of: number).name
    raw = try Self._raw(table, key, reader.connection)
  }

  private static func _attributes(
    of entity: PropertyLayout, _ layout: ModelLayout
  ) -> [(path: PropertyPath, schema: AttributeSchema)] {
    let names = entity.slots.filter { $0.isAttribute && !$0.isHidden && !$0.isTransient }.map(\.name)
      .sorted()
    return names.flatMap { name -> [(path: PropertyPath, schema: AttributeSchema)] in
      guard let path = try? PropertyPath(name, of: entity, in: layout),
        case .attribute(let schema) = path.kind
      else {
        return []
      }
      guard schema.type == .composite else { return [(path, schema)] }
      return schema.elements.compactMap { element in
        (try? PropertyPath("\(name).\(element.name)", of: entity, in: layout)).map { ($0, element) }
      }
    }
  }

  private static func _relationships(
    _ entity: PropertyLayout, _ key: Int64, _ store: ExploredStore, _ members: MemberQuery,
    query reader: StoreReader
  ) throws -> [Relationship] {
    let limit = store.limits.members
    let slots = entity.slots.indices.filter {
      entity.slots[$0].relationship != nil && !entity.slots[$0].isHidden && !entity.slots[$0].isTransient
    }
    return try slots.sorted { entity.slots[$0].name < entity.slots[$1].name }.map { slot in
      let property = entity.slots[slot]
      let relationship = property.relationship!
      let destination = store.layout.layout(numbered: relationship.destination)
      var found: [ObjectLink] = []
      var dangling: Int64?
      if relationship.isToMany {
        found = try members.members(of: entity, key, slot: slot, from: 0, limit: limit + 1)
      } else if let path = try? PropertyPath(property.name, of: entity, in: store.layout) {
        switch try CellQuery(store, reader, entity, [path], textLimit: 1).rows([key]).first?.cells.first {
        case .object(let link): found = [link]
        case .dangling(_, let key): dangling = key
        default: break
        }
      }
      return Relationship(
        name: property.name, destination: destination.entityName, isToMany: relationship.isToMany,
        isOrdered: relationship.isOrdered,
        inverse: relationship.inverseSlot.flatMap {
          destination.slots[$0].isHidden ? nil : destination.slots[$0].name
        },
        members: Array(found.prefix(limit)), isMore: found.count > limit, dangling: dangling)
    }
  }

  private static func _referrers(
    _ entity: PropertyLayout, _ key: Int64, _ store: ExploredStore, _ reader: StoreReader,
    _ members: MemberQuery
  ) throws -> [Referrers] {
    var result: [Referrers] = []
    for table in reader.anatomy.tables {
      for toOne in table.toOnes where !toOne.isHidden {
        let owner = store.layout.layout(numbered: toOne.owner)
        let destination = store.layout.layout(numbered: toOne.destination)
        guard destination.family.contains(entity.entityNumber), let slot = owner.slot(named: toOne.property),
          owner.slots[slot].relationship?.inverseSlot.map({ destination.slots[$0].isHidden }) ?? true
        else { continue }
        let found = try members.rows(of: owner, where: toOne.column, equals: key, limit: 21)
        guard !found.isEmpty else { continue }
        result.append(
          Referrers(
            relationship: "\(owner.entityName).\(toOne.property)", members: Array(found.prefix(20)),
            isMore: found.count > 20))
      }
    }
    return result
  }

  private static func _raw(_ table: String, _ key: Int64, _ connection: Connection) throws -> [RawCell] {
    var columns: [String] = []
    try connection.query("SELECT name FROM pragma_table_info(?) ORDER BY cid", [.text(_unquoted(table))]) {
      columns.append($0.string(0))
    }
    guard !columns.isEmpty else { return [] }
    let list = columns.prefix(600).map { column -> String in
      let name = "\"\(column.replacing("\"", with: "\"\""))\""
      return
        "typeof(\(name)), CASE WHEN typeof(\(name)) IN ('text', 'blob') THEN substr(\(name), 1, 200) ELSE \(name) END, "
        + "length(\(name))"
    }
    var cells: [RawCell] = []
    try connection.query("SELECT \(list.joined(separator: ", ")) FROM \(table) WHERE Z_PK = ?", [.int(key)]) {
      row in
      for (index, column) in columns.prefix(600).enumerated() {
        let place = Int32(index * 3)
        let storage = row.string(place)
        let isCut = ["text", "blob"].contains(storage) && row.int64(place + 2) > 200
        cells.append(
          RawCell(
            column: column, storage: storage,
            value: CellQuery.shown(row.value(place + 1)) + (isCut ? " …" : "")))
      }
    }
    return cells
  }

  private static func _unquoted(_ table: String) -> String {
    guard table.hasPrefix("\"") else { return table }
    return String(table.dropFirst().dropLast()).replacing("\"\"", with: "\"")
  }
}
