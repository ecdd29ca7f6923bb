import CoreData

// Views for human readers, with readable dates and entity names.

extension PostgreSQLSchema {
  /// For each table of the model, the view `_readable_` followed by its name.
  var views: [String] {
    mapping.tables.flatMap { table -> [String] in
      let view = viewName(of: table)
      let text = "Objects as people read them: dates in the session's time zone, entities by name"
      return [
        "CREATE OR REPLACE VIEW \(view) AS SELECT \(_columns(table)) FROM \(table.name)",
        "COMMENT ON VIEW \(view) IS \(PostgreSQLNames.literal(text))",
      ]
    }
  }

  /// Returns the name of a table's view, with the schema.
  func viewName(of table: TableMapping) -> String {
    var name = "_readable_" + relation(table.name)
    while name.utf8.count > PostgreSQLNames.maximumLength { name.removeLast() }
    return "\(quotedSchema).\(PostgreSQLNames.quoted(name))"
  }

  private func _columns(_ table: TableMapping) -> String {
    let family = mapping.layout.layout(numbered: table.rootNumber).family
    let entities = family.map { number in
      "WHEN \(number) THEN \(PostgreSQLNames.literal(mapping.layout.layout(numbered: number).entityName))"
    }
    var dates: Set<Int> = []
    for number in family {
      let layout = mapping.layout.layout(numbered: number)
      for slot in layout.slots.indices where layout.slots[slot].form == .date {
        if case .attribute(let column) = mapping.storage(of: slot, in: number) { dates.insert(column) }
      }
    }
    let columns = table.columns.enumerated().map { index, column in
      guard dates.contains(index) else { return column.name }
      // Dates beyond the server's calendar are NULL; to_timestamp would fail the whole view.
      return """
        CASE WHEN \(column.name) BETWEEN -200000000000 AND 9000000000000 \
        THEN to_timestamp(\(column.name) + 978307200) END AS \(column.name)
        """
    }
    return
      (["\"id\"", "CASE \"entity\" \(entities.joined(separator: " ")) END AS \"entity\"", "\"version\""]
      + columns)
      .joined(separator: ", ")
  }
}
