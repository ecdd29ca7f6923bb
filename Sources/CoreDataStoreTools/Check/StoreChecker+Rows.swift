import CoreData
import CoreDataModelSchema
import CoreDataToolKit

// Rows and their attributes.

extension StoreChecker {
  func checkRows(_ table: StoreTableLayout.Table, _ anatomy: StoreTableLayout) throws {
    let known = anatomy.storedFamily(of: table.root)
    try find(
      .entityNumber, .error, RowCondition(table, "t0.Z_ENT IS NULL OR t0.Z_ENT NOT IN (\(known))"),
      advice: table.hasSubentities
        ? "find out what the rows are, and set Z_ENT; one of \(known)" : "set Z_ENT to \(known)",
      isMendable: !table.hasSubentities
    ) { "\(counted($0, "row")) whose Z_ENT is no entity of this table" }
    let abstract = table.entities.filter { anatomy.layout.layout(numbered: $0).isAbstract }
    if !abstract.isEmpty {
      let numbers = abstract.map { String(anatomy.storedNumber(of: $0)) }.joined(separator: ", ")
      try find(
        .entityNumber, .error, RowCondition(table, "t0.Z_ENT IN (\(numbers))"),
        advice: "find out what the rows are, and set Z_ENT"
      ) {
        "\(counted($0, "row")) of an abstract entity (\(abstract.map(anatomy.name).joined(separator: ", ")))"
      }
    }
    try find(
      .cellType, .warning, RowCondition(table, "typeof(t0.Z_OPT) != 'integer' OR t0.Z_OPT < 1"),
      advice: "set Z_OPT to 1", isMendable: true
    ) { "\(counted($0, "row")) without a version (Z_OPT)" }
  }

  func checkAttributes(_ table: StoreTableLayout.Table, _ anatomy: StoreTableLayout) throws {
    for column in table.attributes {
      let name = "\(anatomy.name(of: column.owner)).\(column.property)"
      let scope = anatomy.isKind(of: column.owner)
      let cell = "t0.\(column.column)"
      let wrong = CellRule.isWrong(column, cell: cell)
      try find(
        .cellType, .error, RowCondition(table, "\(cell) IS NOT NULL AND (\(wrong))\(scope)"),
        advice: "convert the cells, or set them to NULL",
        isMendable: CellRule.conversion(column, cell: column.column) != nil
      ) { "\(counted($0, "row")) whose \(name) holds no \(column.attribute.type.fileName)" }
      if let range = CellRule.isOutOfRange(column.attribute.type, cell: cell) {
        try find(
          .cellType, .warning, RowCondition(table, "typeof(\(cell)) = 'integer' AND (\(range))\(scope)"),
          advice: "set another value"
        ) { "\(counted($0, "row")) whose \(name) is out of the range of \(column.attribute.type.fileName)" }
      }
      // Elements of composites, and values computed by triggers, are not set by users.
      guard !column.attribute.isOptional, !column.attribute.isDerived, !column.property.contains(".") else {
        continue
      }
      try find(
        .missingValue, .warning, RowCondition(table, "\(cell) IS NULL\(scope)"),
        advice: "set a value; saving the object will fail without"
      ) { "\(counted($0, "row")) without \(name), which is not optional" }
    }
  }

  func checkConstraints(_ anatomy: StoreTableLayout) throws {
    for entity in anatomy.layout.layouts {
      // Inherited ones are checked at the declaring entity.
      let inherited =
        entity.parentNumber.map { anatomy.layout.layout(numbered: $0).uniquenessConstraints } ?? []
      for constraint in entity.uniquenessConstraints where !inherited.contains(constraint) {
        try _checkConstraint(constraint, entity, anatomy)
      }
    }
  }

  private func _checkConstraint(_ slots: [Int], _ entity: PropertyLayout, _ anatomy: StoreTableLayout) throws
  {
    let table = anatomy.table(of: entity.entityNumber)
    let names = slots.map { entity.slots[$0].name }
    let columns = slots.compactMap { slot -> String? in
      let property = entity.slots[slot]
      return table.attributes.first { $0.owner == property.owner && $0.property == property.name }?.column
        ?? table.toOnes.first { $0.owner == property.owner && $0.property == property.name }?.column
    }
    guard columns.count == slots.count, !columns.isEmpty else { return }
    let list = columns.map { "t1.\($0)" }.joined(separator: ", ")
    let isWhole = columns.map { "t1.\($0) IS NOT NULL" }.joined(separator: " AND ")
    let scope = anatomy.isKind(of: entity.entityNumber)
    let inner = anatomy.isKind(of: entity.entityNumber, alias: "t1")
    let own = columns.map { "t0.\($0)" }.joined(separator: ", ")
    try find(
      .constraint, .error,
      RowCondition(
        table,
        "(\(own)) IN (SELECT \(list) FROM \(table.name) t1 WHERE \(isWhole)\(inner) GROUP BY \(list) HAVING COUNT(*) > 1)"
          + scope), advice: "change or delete all of them but one"
    ) {
      "\(counted($0, "row")) of \(entity.entityName) that share \(names.joined(separator: ", ")) with another, which a "
        + "uniqueness constraint forbids"
    }
  }
}

/// The valid values of an attribute's column.
enum CellRule {
  /// Condition for a cell that is not NULL and cannot be read as its type.
  static func isWrong(_ column: StoreTableLayout.AttributeColumn, cell: String) -> String {
    switch column.attribute.type.form {
    case .integer16, .integer32, .integer64: "typeof(\(cell)) != 'integer'"
    case .boolean: "typeof(\(cell)) != 'integer' OR \(cell) NOT IN (0, 1)"
    case .double, .float, .date: "typeof(\(cell)) NOT IN ('real', 'integer')"
    case .decimal: "typeof(\(cell)) NOT IN ('real', 'integer')"
    case .string, .uri: "typeof(\(cell)) != 'text'"
    case .uuid: "typeof(\(cell)) != 'blob' OR length(\(cell)) != 16"
    case .binaryData, .transformable: "typeof(\(cell)) != 'blob'"
    case .undefined, .objectID, .composite: "0"
    }
  }

  static func isOutOfRange(_ type: AttributeType, cell: String) -> String? {
    switch type.form {
    case .integer16: "\(cell) NOT BETWEEN -32768 AND 32767"
    case .integer32: "\(cell) NOT BETWEEN -2147483648 AND 2147483647"
    default: nil
    }
  }

  /// Expression that converts an invalid cell without loss, or leaves it unchanged; nil if there is none.
  static func conversion(_ column: StoreTableLayout.AttributeColumn, cell: String) -> String? {
    switch column.attribute.type.form {
    case .integer16, .integer32, .integer64:
      "CASE WHEN typeof(\(cell)) = 'blob' THEN \(cell) WHEN CAST(\(cell) AS INTEGER) = \(cell) + 0 "
        + "AND CAST(CAST(\(cell) AS INTEGER) AS TEXT) = CAST(\(cell) AS TEXT) OR typeof(\(cell)) = 'real' "
        + "AND CAST(\(cell) AS INTEGER) = \(cell) THEN CAST(\(cell) AS INTEGER) ELSE \(cell) END"
    case .boolean: "CASE WHEN typeof(\(cell)) IN ('integer', 'real') THEN \(cell) != 0 ELSE \(cell) END"
    case .double, .float, .date, .decimal:
      "CASE WHEN typeof(\(cell)) = 'text' AND CAST(CAST(\(cell) AS REAL) AS TEXT) = \(cell) THEN CAST(\(cell) AS REAL) "
        + "ELSE \(cell) END"
    case .string, .uri:
      "CASE WHEN typeof(\(cell)) IN ('integer', 'real') THEN CAST(\(cell) AS TEXT) ELSE \(cell) END"
    case .binaryData, .transformable:
      column.isExternal
        ? nil : "CASE WHEN typeof(\(cell)) = 'text' THEN CAST(\(cell) AS BLOB) ELSE \(cell) END"
    case .uuid, .undefined, .objectID, .composite: nil
    }
  }
}
