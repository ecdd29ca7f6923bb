import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

/// What a column of a table has: its most frequent values, and how numbers and dates are spread.
struct FacetReading: Sendable {
  /// A value with the number of its rows.
  struct Value: Sendable {
    let cell: Cell
    /// The condition of the rows with the value; nil if the language has none for it.
    let condition: String?
    let count: Int
  }

  /// The numbers of rows in equal parts from the least to the greatest value.
  struct Histogram: Sendable {
    let least: Double
    let greatest: Double
    let mean: Double
    let counts: [Int]
    var width: Double { (greatest - least) / Double(counts.count) }
  }

  let values: [Value]
  let hasMoreValues: Bool
  let rowCount: Int
  let histogram: Histogram?
  /// Whether only the first rows that meet the filter were looked at.
  let isPart: Bool

  static let mostValues = 100
  static let mostFiltered = 50_000
  private static let _parts = 40

  /// - Parameter path: The column; the identity stands for the objects' own entities.
  /// - Throws: `TableRequest.Problem` for a column without values to count.
  init(
    _ path: PropertyPath, _ request: TableRequest, _ store: ExploredStore, _ reader: StoreReader
  ) throws {
    let number = request.entity.entityNumber
    let expression = CellExpression(reader.anatomy)
    let table = reader.anatomy.table(of: number)
    var conditions: [String] = []
    var bindings: [Binding] = []
    (conditions, bindings, isPart) = try Self._rows(request, store, reader)
    let source = "FROM \(table.name) t WHERE \(conditions.joined(separator: " AND "))"

    let sql: String
    switch path.kind {
    case .identity: sql = "t.Z_ENT"
    case .attribute(let attribute):
      guard Self._hasValues(attribute),
        let found = expression.attribute(path.names[...], of: number, alias: "t")
      else { throw Self._problem(path) }
      sql = found.sql
    case .toOne:
      guard let found = expression.toOne(path.names[...], of: number, alias: "t") else {
        throw Self._problem(path)
      }
      sql = found.sql
    case .toMany: throw Self._problem(path)
    }
    var found: [(Binding, Int)] = []
    // Long texts are one value if they begin alike: no more of them is kept.
    let value = "CASE WHEN typeof(\(sql)) = 'text' THEN substr(\(sql), 1, 1000) ELSE \(sql) END"
    try reader.connection.query(
      "SELECT \(value), COUNT(*) \(source) GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT \(Self.mostValues + 1)",
      bindings
    ) { found.append(($0.value(0), Int(clamping: $0.int64(1)))) }
    hasMoreValues = found.count > Self.mostValues
    var rows = found.reduce(0) { $0 + $1.1 }
    if hasMoreValues {
      try reader.connection.query("SELECT COUNT(*) \(source)", bindings) { rows = Int(clamping: $0.int64(0)) }
    }
    rowCount = rows
    let links = try Self._links(path, found.map(\.0), store, reader)
    values = found.prefix(Self.mostValues).map { value, count in
      let cell = Self._cell(value, path, links, store, reader)
      return Value(cell: cell, condition: Self._condition(value, cell, path), count: count)
    }
    histogram = try Self._histogram(path, sql, source, bindings, reader)
  }

  // MARK: Rows

  /// Conditions of the rows of the table that the request is about.
  private static func _rows(
    _ request: TableRequest, _ store: ExploredStore, _ reader: StoreReader
  ) throws -> ([String], [Binding], isPart: Bool) {
    if let predicate = request.predicate {
      let fetch = NSFetchRequest<NSManagedObjectID>(entityName: request.entity.entityName)
      fetch.resultType = .managedObjectIDResultType
      fetch.predicate = predicate
      fetch.includesSubentities = request.includesSubentities
      fetch.fetchLimit = mostFiltered + 1
      let context = store.context()
      let keys = try context.performAndWait { try context.fetch(fetch) }.compactMap(TableKeys.key)
      let list = "[" + keys.prefix(mostFiltered).map(String.init).joined(separator: ",") + "]"
      return (["t.Z_PK IN (SELECT value FROM json_each(?1))"], [.text(list)], keys.count > mostFiltered)
    }
    guard reader.anatomy.table(of: request.entity.entityNumber).hasSubentities else {
      return (["1"], [], false)
    }
    let family = request.includesSubentities ? Array(request.entity.family) : [request.entity.entityNumber]
    let numbers = family.map { String(reader.anatomy.storedNumber(of: $0)) }
    return (["t.Z_ENT IN (\(numbers.joined(separator: ", ")))"], [], false)
  }

  private static func _hasValues(_ attribute: AttributeSchema) -> Bool {
    switch attribute.type.form {
    case .binaryData, .transformable, .composite, .undefined, .objectID: false
    default: true
    }
  }

  private static func _problem(_ path: PropertyPath) -> TableRequest.Problem {
    TableRequest.Problem(field: .columns, description: "The values of '\(path.text)' cannot be counted.")
  }

  // MARK: Values

  private static func _links(
    _ path: PropertyPath, _ values: [Binding], _ store: ExploredStore, _ reader: StoreReader
  ) throws -> [Int64: ObjectLink] {
    guard case .toOne(let destination) = path.kind else { return [:] }
    let keys = values.compactMap { if case .int(let key) = $0 { key } else { nil } }
    let links = try MemberQuery(store, reader).links(store.layout.layout(numbered: destination), keys)
    return Dictionary(links.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
  }

  private static func _cell(
    _ value: Binding, _ path: PropertyPath, _ links: [Int64: ObjectLink], _ store: ExploredStore,
    _ reader: StoreReader
  ) -> Cell {
    if value == .null { return .null }
    switch (path.kind, value) {
    case (.identity, .int(let number)):
      let entity = reader.anatomy.entity(stored: number)
      return .text(
        entity.map { store.layout.layout(numbered: $0).entityName } ?? "entity \(number)", length: 0)
    case (.toOne(let destination), .int(let key)):
      return links[key].map(Cell.object)
        ?? .dangling(entity: store.layout.layout(numbered: destination).entityName, key: key)
    case (.attribute(let attribute), .text(let text)) where [.string, .uri].contains(attribute.type.form):
      return .text(text, length: text.unicodeScalars.count)
    case (.attribute(let attribute), _):
      return Cell(value, of: attribute) ?? .misfit(CellQuery.shown(value))
    default: return .misfit(CellQuery.shown(value))
    }
  }

  /// A condition of the predicate language, in the words that a filter takes.
  private static func _condition(_ value: Binding, _ cell: Cell, _ path: PropertyPath) -> String? {
    if case .identity = path.kind { return nil }
    func equals(_ text: String) -> String { "\(path.text) == \(text)" }
    switch cell {
    case .null: return equals("nil")
    case .boolean(let flag): return equals(flag ? "true" : "false")
    case .number(let text): return equals(text)
    case .uuid(let uuid): return equals("'\(uuid.uuidString)'")
    case .object(let link): return equals("'\(link.identifier)'")
    case .date(let seconds): return equals("'\(ISODate.text(seconds))'")
    case .text(let text, _):
      guard text.unicodeScalars.count < 1000, !text.contains(where: { $0.isNewline }) else { return nil }
      return equals("\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"")
    default: return nil
    }
  }

  // MARK: Histogram

  private static func _histogram(
    _ path: PropertyPath, _ sql: String, _ source: String, _ bindings: [Binding], _ reader: StoreReader
  ) throws -> Histogram? {
    guard case .attribute(let attribute) = path.kind else { return nil }
    switch attribute.type.form {
    case .integer16, .integer32, .integer64, .double, .float, .decimal, .date: break
    default: return nil
    }
    let isNumber = "typeof(\(sql)) IN ('integer', 'real')"
    var range: (Double, Double, Double)?
    try reader.connection.query(
      "SELECT MIN(\(sql)), MAX(\(sql)), AVG(\(sql)) \(source) AND \(isNumber)", bindings
    ) { row in
      if !row.isNull(0) { range = (row.double(0), row.double(1), row.double(2)) }
    }
    guard let (least, greatest, mean) = range, least.isFinite, greatest.isFinite, least < greatest,
      (greatest - least).isFinite
    else { return nil }
    var counts = Array(repeating: 0, count: _parts)
    let first = bindings.count + 1
    try reader.connection.query(
      """
      SELECT MIN(\(_parts - 1), CAST((\(sql) - ?\(first)) / ?\(first + 1) AS INTEGER)), COUNT(*) \(source) AND \(isNumber) \
      GROUP BY 1
      """, bindings + [.double(least), .double((greatest - least) / Double(_parts))]
    ) { row in
      let part = min(max(0, Int(clamping: row.int64(0))), _parts - 1)
      counts[part] += Int(clamping: row.int64(1))
    }
    return Histogram(least: least, greatest: greatest, mean: mean, counts: counts)
  }
}
