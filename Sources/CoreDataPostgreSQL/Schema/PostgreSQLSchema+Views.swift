import CoreData
import CoreDataPostgreSQLBinding

// Views for human readers, with readable dates and entity names.

extension PostgreSQLSchema {
  /// For each table of the model, the view `_readable_` followed by its name.
  var views: [String] { mapping.tables.flatMap { view(of: $0) } }

  /// Returns the statements of one table's view.
  ///
  /// - Parameters:
  ///   - present: Names of the columns that the view has, in its order: a view is replaced by one that
  ///   has the same and further ones after them.
  ///   - hidden: What the view shows of columns that are there for programs with earlier versions, by their names.
  func view(of table: TableMapping, replacing present: [String] = [], hidden: [String: String] = [:])
    -> [String]
  {
    let view = viewName(of: table)
    let text = "Objects as people read them: dates in the session's time zone, entities by name"
    let columns = _columns(table, after: present, hidden)
    return [
      "CREATE OR REPLACE VIEW \(view) AS SELECT \(columns) FROM \(table.name)",
      "COMMENT ON VIEW \(view) IS \(PostgreSQLNames.literal(text))",
    ]
  }

  /// Returns the statements that replace views. One that has columns which this model does not know, of a newer
  /// version, is left as it is.
  func renewedViews(on connection: PostgreSQLConnection) throws -> [String] {
    try mapping.tables.flatMap { table in
      let present = try columns(ofViewOf: table, on: connection)
      let own = ["\"id\"", "\"entity\"", "\"version\""] + table.columns.map(\.name)
      return Set(present).isSubset(of: own) ? view(of: table, replacing: present) : []
    }
  }

  /// Returns the quoted names of the columns of a table's view, in its order; none if there is no view.
  func columns(ofViewOf table: TableMapping, on connection: PostgreSQLConnection) throws -> [String] {
    let (schema, name) = PostgreSQLNames.parts(viewName(of: table))
    var parameters = PostgreSQLParameters()
    parameters.add(schema)
    parameters.add(name)
    let found = try connection.run(
      """
      SELECT a.attname::text FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = $1::text \
      WHERE c.relname = $2::text AND c.relkind = 'v' AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
      """, parameters, isRepeated: false)
    return (0..<found.rowCount).map { PostgreSQLNames.quoted(found.string($0, 0)) }
  }

  /// Returns the name of a table's view, with the schema.
  func viewName(of table: TableMapping) -> String {
    var name = "_readable_" + relation(table.name)
    while name.utf8.count > PostgreSQLNames.maximumLength { name.removeLast() }
    return "\(quotedSchema).\(PostgreSQLNames.quoted(name))"
  }

  private func _columns(
    _ table: TableMapping, after present: [String], _ hidden: [String: String]
  ) -> String {
    let family = mapping.layout.layout(numbered: table.rootNumber).family
    let entities = family.map { number in
      "WHEN \(mapping.numbers.stored(for: number)) THEN \(PostgreSQLNames.literal(mapping.layout.layout(numbered: number).entityName))"
    }
    let columns = readableColumns(of: table)
    let shown = columns + hidden.filter { present.contains($0.key) }.map { ($0.key, $0.value) }
    let places = Dictionary(
      present.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
    let ordered = shown.enumerated().sorted { left, right in
      let (first, second) = (places[left.element.name] ?? .max, places[right.element.name] ?? .max)
      return (first, left.offset) < (second, right.offset)
    }
    return
      (["\"id\"", "CASE \"entity\" \(entities.joined(separator: " ")) END AS \"entity\"", "\"version\""]
      + ordered.map(\.element.expression))
      .joined(separator: ", ")
  }

  /// The columns of a table's view, after those that every view has, with what it shows of each.
  func readableColumns(of table: TableMapping) -> [(name: String, expression: String)] {
    var dates: Set<Int> = []
    for number in mapping.layout.layout(numbered: table.rootNumber).family {
      let layout = mapping.layout.layout(numbered: number)
      for slot in layout.slots.indices where layout.slots[slot].form == .date {
        if case .attribute(let column) = mapping.storage(of: slot, in: number) { dates.insert(column) }
      }
    }
    return table.columns.enumerated().map { index, column in
      guard dates.contains(index) else { return (column.name, column.name) }
      // Dates beyond the server's calendar are NULL; to_timestamp would fail the whole view.
      return (
        column.name,
        """
        CASE WHEN \(column.name) BETWEEN -200000000000 AND 9000000000000 \
        THEN pg_catalog.to_timestamp(\(column.name) + 978307200) END AS \(column.name)
        """
      )
    }
  }
}
