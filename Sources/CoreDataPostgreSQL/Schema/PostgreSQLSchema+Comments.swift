import CoreData

// Comments on tables and columns that name their entities and properties.

extension PostgreSQLSchema {
  /// Comments on tables and their columns, by unquoted names.
  var comments: [PostgreSQLComment] {
    var result: [PostgreSQLComment] = []
    for table in mapping.tables {
      let root = mapping.layout.layout(numbered: table.rootNumber)
      let numbers = root.family.map {
        "\(mapping.numbers.stored(for: $0)) \(mapping.layout.layout(numbered: $0).entityName)"
      }
      func add(_ column: String?, _ text: String) {
        result.append(PostgreSQLComment(relation: relation(table.name), column: column, text: text))
      }
      add(nil, "Objects of the entity \(root.entityName)")
      add("entity", "Number of the object's entity: " + numbers.joined(separator: ", "))
      add("version", "Raised by every save; what a save was based on must still be here")
    }
    for layout in mapping.layout.layouts {
      let table = mapping.table(of: layout.entityNumber)
      for slot in layout.slots.indices where layout.slots[slot].owner == layout.entityNumber {
        guard let name = column(slot, layout.entityNumber) else { continue }
        var text = "\(layout.entityName).\(layout.slots[slot].name)"
        if layout.slots[slot].form == .date { text += ", in seconds since 2001-01-01 00:00 UTC" }
        result.append(
          PostgreSQLComment(
            relation: relation(table.name), column: PostgreSQLNames.plain(name), text: text))
      }
    }
    return result
  }

  /// Returns the statement that creates a comment.
  func statement(_ comment: PostgreSQLComment) -> String {
    let table = "\(quotedSchema).\(PostgreSQLNames.quoted(comment.relation))"
    let object = comment.column.map { "COLUMN \(table).\(PostgreSQLNames.quoted($0))" } ?? "TABLE \(table)"
    return "COMMENT ON \(object) IS \(PostgreSQLNames.literal(comment.text))"
  }
}
