import CoreData
import CoreDataCSQLite
import CoreDataModelSchema
import CoreDataToolKit

/// What a store holds, without its keys: equal for stores with the same objects, values and links, in whatever order
/// they were numbered.
///
/// An object is told by its entity and key, or by its values if it has none. Attributes that no record has are left out, and
/// derived ones, which the floor has not.
struct StoreDigest: Sendable, Codable, Equatable {
  /// The number of rows and a sum of their hashes, by entity and by relationship with pairs of keys.
  struct Part: Sendable, Codable, Equatable {
    var count = 0
    var sum: UInt64 = 0
  }

  private(set) var parts: [String: Part] = [:]

  /// The digest of nothing.
  init() {}

  /// Reads a store with plain SQLite, after checking its integrity.
  ///
  /// - Throws: `StoreCheck.Failure` if the file is damaged.
  init(path: String, plan: RecordPlan, anatomy: StoreTableLayout) throws {
    let database = try PlainSQLite(path: path, readOnly: true)
    let integrity = try database.rows("PRAGMA integrity_check").compactMap { $0[0] }
    guard integrity == ["ok"] else {
      throw StoreCheck.Failure(
        description: "the file is damaged: \(integrity.prefix(3).joined(separator: "; "))")
    }
    let tables = anatomy.tables.map(Table.init)
    var names: [Int: [String: String]] = [:]
    for table in tables {
      names[table.root] = try Self._names(table, plan, anatomy, database)
    }
    for table in tables { try _addRows(table, names, plan, anatomy, database) }
    for join in anatomy.joins { try _addPairs(join, names, anatomy, database) }
  }

  /// A table with the attributes that are compared.
  private struct Table {
    let name: String
    let root: Int
    let entities: [Int]
    let attributes: [StoreTableLayout.AttributeColumn]
    let toOnes: [StoreTableLayout.ToOneColumns]

    init(_ table: StoreTableLayout.Table) {
      (name, root, entities, toOnes) = (table.name, table.root, table.entities, table.toOnes)
      attributes = table.attributes.filter {
        !$0.attribute.isDerived && ![.transformable, .composite].contains($0.attribute.type.form)
      }
    }
  }

  /// The parts that two stores do not have alike.
  func differences(from other: StoreDigest) -> [String] {
    Set(parts.keys).union(other.parts.keys).filter { parts[$0] != other.parts[$0] }.sorted()
  }

  /// The number of rows of an entity and its subentities.
  func count(of entity: PropertyLayout, _ layout: ModelLayout) -> Int {
    entity.family.reduce(0) { $0 + (parts[layout.layout(numbered: $1).entityName]?.count ?? 0) }
  }

  mutating func add(_ row: String, to part: String) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in row.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    // Spread, since hashes are summed.
    hash = (hash ^ (hash >> 31)) &* 0x9e37_79b9_7f4a_7c15
    parts[part, default: Part()].count += 1
    parts[part]!.sum &+= hash ^ (hash >> 29)
  }

  /// A column that gives equal text for equal values; numbers of a decimal or a float may have another last digit.
  private static func _expression(_ column: StoreTableLayout.AttributeColumn) -> String {
    switch column.attribute.type.form {
    case .decimal, .double, .float, .date: "printf('%.14g', \(column.column))"
    // The first byte of a value that may be in a file says where it is.
    case .binaryData, .transformable:
      column.isExternal ? "hex(substr(\(column.column), 2))" : "hex(\(column.column))"
    case .uuid: "hex(\(column.column))"
    default: column.column
    }
  }

  /// What an object of each key is called.
  private static func _names(
    _ table: Table, _ plan: RecordPlan, _ anatomy: StoreTableLayout, _ database: PlainSQLite
  ) throws -> [String: String] {
    let columns = table.attributes.map { ", " + _expression($0) }.joined()
    var keys: [Int: Int] = [:]
    for number in table.entities {
      let layout = plan.layout.layout(numbered: number)
      guard let slot = plan.key(of: layout)?.slot else { continue }
      let property = layout.slots[slot]
      keys[number] = table.attributes.firstIndex {
        $0.owner == property.owner && $0.property == property.name
      }
    }
    var names: [String: String] = [:]
    for row in try database.rows("SELECT Z_PK, Z_ENT\(columns) FROM \(table.name)") {
      let entity = row[1].flatMap { Int64($0) }.flatMap { anatomy.entity(stored: $0) } ?? table.root
      let told =
        keys[entity].map { row[2 + $0] ?? "-" } ?? row[2...].map { $0 ?? "-" }.joined(separator: "\u{1F}")
      names[row[0]!] = plan.layout.layout(numbered: entity).entityName + "\u{1E}" + told
    }
    return names
  }

  private mutating func _addRows(
    _ table: Table, _ names: [Int: [String: String]], _ plan: RecordPlan,
    _ anatomy: StoreTableLayout,
    _ database: PlainSQLite
  ) throws {
    let columns = (table.attributes.map(Self._expression) + table.toOnes.map(\.column)).map { ", " + $0 }
      .joined()
    // Positions count, not their numbers.
    let ranks = table.toOnes.compactMap { toOne in
      toOne.orderColumn.map {
        ", CASE WHEN \(toOne.column) IS NULL THEN NULL ELSE row_number() OVER (PARTITION BY \(toOne.column) ORDER BY \($0)) END"
      }
    }.joined()
    let own = names[table.root]!
    for row in try database.rows("SELECT Z_PK, Z_ENT\(columns)\(ranks) FROM \(table.name)") {
      let entity = row[1].flatMap { Int64($0) }.flatMap { anatomy.entity(stored: $0) } ?? table.root
      var words = [own[row[0]!]!]
      words += row[2..<2 + table.attributes.count].map { $0 ?? "-" }
      for (index, toOne) in table.toOnes.enumerated() {
        let root = plan.layout.layout(numbered: toOne.destination).rootNumber
        words.append(row[2 + table.attributes.count + index].map { names[root]?[$0] ?? "gone" } ?? "-")
      }
      words += row[(2 + table.attributes.count + table.toOnes.count)...].map { $0 ?? "-" }
      add(words.joined(separator: "\u{1D}"), to: plan.layout.layout(numbered: entity).entityName)
    }
  }

  private mutating func _addPairs(
    _ join: StoreTableLayout.Join, _ names: [Int: [String: String]], _ anatomy: StoreTableLayout,
    _ database: PlainSQLite
  ) throws {
    let first = anatomy.layout.layout(numbered: join.firstEntity).rootNumber
    let second = anatomy.layout.layout(numbered: join.secondEntity).rootNumber
    let ranks = [(join.first, join.secondOrder), (join.second, join.firstOrder)].compactMap { owner, order in
      order.map { ", row_number() OVER (PARTITION BY \(owner) ORDER BY \($0))" }
    }.joined()
    for row in try database.rows("SELECT \(join.first), \(join.second)\(ranks) FROM \(join.name)") {
      let ends = [names[first]?[row[0] ?? ""] ?? "gone", names[second]?[row[1] ?? ""] ?? "gone"]
      add((ends + row[2...].map { $0 ?? "-" }).joined(separator: "\u{1D}"), to: join.property)
    }
  }
}
