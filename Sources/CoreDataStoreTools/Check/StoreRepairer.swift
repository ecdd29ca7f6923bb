import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import Foundation

/// Repairs the problems that a check finds, in a copy of the store; the original is only read.
package struct StoreRepairer {
  private let _connection: Connection
  private let _anatomy: StoreTableLayout
  private let _path: String

  /// Copies the store at `path` with its log and external data to `copy`, which must not exist, and repairs
  /// the copy.
  ///
  /// Problems without an unambiguous repair remain; check the copy to find them.
  ///
  /// - Throws: A Cocoa error or `SQLiteError`, possibly leaving an incomplete copy.
  package static func mend(_ path: String, to copy: String, model: ModelSchema) throws {
    try StoreFileFacts.copy(path: path, to: copy)
    let reindexing = try StoreFileFacts.openForMending(path: copy)
    try reindexing.execute("REINDEX")
    let reader = try StoreReader(path: copy, model: model)
    let anatomy = reader.anatomy
    reader.close()
    let connection = try StoreFileFacts.openForMending(path: copy)
    try connection.transaction {
      try StoreRepairer(_connection: connection, _anatomy: anatomy, _path: copy)._run()
    }
    try connection.checkpoint(.truncate)
  }

  /// Sets the missing sides of one-to-one relationships, inside the caller's transaction.
  static func completeInverses(_ anatomy: StoreTableLayout, on connection: Connection) throws {
    let mender = StoreRepairer(_connection: connection, _anatomy: anatomy, _path: "")
    for table in anatomy.tables {
      for reference in table.toOnes { try mender._completeInverse(reference, table) }
    }
  }

  private func _run() throws {
    // Their triggers do not run in a schema that is not trusted.
    let spatialIndexes = try SpatialIndex.drop(on: _connection)
    for table in _anatomy.tables {
      try _mendRows(table)
      for column in table.attributes { try _mendCells(column, table) }
      for reference in table.toOnes { try _mendReference(reference, table) }
    }
    // The missing side of a link can be determined only after dangling references are removed.
    for table in _anatomy.tables {
      for reference in table.toOnes { try _mendInverse(reference, table) }
    }
    for table in _anatomy.tables {
      for reference in table.toOnes { try _mendOrder(reference, table) }
    }
    for join in _anatomy.joins { try _mendJoin(join) }
    try _mendKeys()
    try _mendFiles()
    for index in spatialIndexes { try index.make(on: _connection, fills: true) }
  }

  private func _update(_ table: String, _ assignments: String, where condition: String) throws {
    try _connection.execute("UPDATE \(table) AS t0 SET \(assignments) WHERE \(condition)")
  }

  // MARK: Rows

  private func _mendRows(_ table: StoreTableLayout.Table) throws {
    if !table.hasSubentities {
      let number = _anatomy.storedNumber(of: table.root)
      try _update(table.name, "Z_ENT = \(number)", where: "t0.Z_ENT IS NOT \(number)")
    }
    try _update(table.name, "Z_OPT = 1", where: "typeof(t0.Z_OPT) != 'integer' OR t0.Z_OPT < 1")
  }

  private func _mendCells(_ column: StoreTableLayout.AttributeColumn, _ table: StoreTableLayout.Table) throws
  {
    let cell = "t0.\(column.column)"
    let scope = _anatomy.isKind(of: column.owner)
    let condition = "\(cell) IS NOT NULL AND (\(CellRule.isWrong(column, cell: cell)))\(scope)"
    if let conversion = CellRule.conversion(column, cell: column.column) {
      try _update(table.name, "\(column.column) = \(conversion)", where: condition)
    }
    guard column.isExternal, column.attribute.isOptional else { return }
    let directory = StoreFileFacts.externalDirectory(path: _path)
    var missing: [Int64] = []
    try _connection.query(
      "SELECT t0.Z_PK, \(cell) FROM \(table.name) t0 WHERE typeof(\(cell)) = 'blob' "
        + "AND hex(substr(\(cell), 1, 1)) = '02' AND length(\(cell)) <= 64"
    ) { row in
      let text = row.withBytes(1) { String(decoding: $0.dropFirst().prefix { $0 != 0 }, as: UTF8.self) }
      guard UUID(uuidString: text) != nil else { return }
      if !FileManager.default.fileExists(atPath: "\(directory)/\(text)") { missing.append(row.int64(0)) }
    }
    for key in missing { try _update(table.name, "\(column.column) = NULL", where: "t0.Z_PK = \(key)") }
  }

  // MARK: References

  private func _clearing(_ reference: StoreTableLayout.ToOneColumns) -> String {
    [reference.column, reference.entityColumn, reference.orderColumn].compactMap { $0 }
      .map { "\($0) = NULL" }.joined(separator: ", ")
  }

  private func _mendReference(_ reference: StoreTableLayout.ToOneColumns, _ table: StoreTableLayout.Table)
    throws
  {
    let rule = ReferenceRule(reference, table, _anatomy)
    try _update(table.name, _clearing(reference), where: rule.isDangling)
    try _update(table.name, _clearing(reference), where: rule.isOfWrongEntity)
    guard let condition = rule.hasWrongEntityColumn, let column = reference.entityColumn else { return }
    try _update(
      table.name,
      "\(column) = (SELECT t2.Z_ENT FROM \(rule.target.name) t2 WHERE t2.Z_PK = t0.\(reference.column))",
      where: condition)
  }

  /// Sets the other side if that is dangling, otherwise clears this one.
  private func _mendInverse(_ reference: StoreTableLayout.ToOneColumns, _ table: StoreTableLayout.Table)
    throws
  {
    let rule = ReferenceRule(reference, table, _anatomy)
    guard let condition = rule.isOneSided, let isKept = rule.isInverseKept,
      try _connection.firstValue("SELECT \(isKept)") == .int(1)
    else { return }
    try _completeInverse(reference, table)
    try _update(table.name, _clearing(reference), where: condition)
  }

  private func _completeInverse(_ reference: StoreTableLayout.ToOneColumns, _ table: StoreTableLayout.Table)
    throws
  {
    guard let inverse = reference.inverseColumn else { return }
    let target = _anatomy.table(of: reference.destination).name
    let source = "FROM \(table.name) t2 WHERE t2.\(reference.column) = t0.Z_PK ORDER BY t2.Z_PK LIMIT 1"
    var assignments = "\(inverse) = (SELECT t2.Z_PK \(source))"
    if let column = reference.inverseEntityColumn {
      assignments += ", \(column) = (SELECT t2.Z_ENT \(source))"
    }
    try _update(
      target, assignments,
      where: "t0.\(inverse) IS NULL AND t0.Z_PK IN (SELECT t1.\(reference.column) FROM \(table.name) t1)"
        + _anatomy.isKind(of: reference.destination))
  }

  private func _mendOrder(_ reference: StoreTableLayout.ToOneColumns, _ table: StoreTableLayout.Table) throws
  {
    guard let order = reference.orderColumn else { return }
    let key = reference.column
    var owners: [Int64] = []
    try _connection.query(
      "SELECT \(key) FROM \(table.name) WHERE \(key) IS NOT NULL GROUP BY \(key) "
        + "HAVING COUNT(*) > COUNT(DISTINCT \(order))"
    ) { owners.append($0.int64(0)) }
    for owner in owners {
      var members: [Int64] = []
      try _connection.query(
        "SELECT Z_PK FROM \(table.name) WHERE \(key) = ? ORDER BY \(order) IS NULL, \(order), Z_PK",
        [.int(owner)]
      ) { members.append($0.int64(0)) }
      for (position, member) in members.enumerated() {
        try _update(table.name, "\(order) = \(2048 + 1024 * position)", where: "t0.Z_PK = \(member)")
      }
    }
  }

  private func _mendJoin(_ join: StoreTableLayout.Join) throws {
    for end in JoinEnd.ends(of: join, _anatomy) {
      for condition in [end.isDangling, end.isOfWrongEntity].compactMap({ $0 }) {
        try _connection.execute("DELETE FROM \(join.name) AS t0 WHERE \(condition)")
      }
    }
    guard join.isReflexive else { return }
    try _connection.execute(
      "INSERT INTO \(join.name) (\(join.first), \(join.second)) SELECT t0.\(join.second), t0.\(join.first) "
        + "FROM \(join.name) t0 WHERE \(JoinEnd.isOneSided(join))")
  }

  // MARK: Keys and files

  private func _mendKeys() throws {
    for table in _anatomy.tables {
      for entity in table.entities {
        let parent = _anatomy.layout.layout(numbered: entity).parentNumber.map(_anatomy.storedNumber) ?? 0
        try _update(
          "Z_PRIMARYKEY", "Z_SUPER = \(parent)",
          where: "t0.Z_ENT = \(_anatomy.storedNumber(of: entity)) AND IFNULL(t0.Z_SUPER, 0) != \(parent)")
      }
      try _raiseMaximum(of: table.name, stored: _anatomy.storedNumber(of: table.root))
    }
    for (number, name) in [(16_001, "ACHANGE"), (16_002, "ATRANSACTION"), (16_003, "ATRANSACTIONSTRING")] {
      let exists = try _connection.firstValue(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [.text(name)])
      if exists != nil { try _raiseMaximum(of: name, stored: number) }
    }
  }

  private func _raiseMaximum(of table: String, stored: Int) throws {
    let highest = "(SELECT MAX(t1.Z_PK) FROM \(table) t1)"
    try _update(
      "Z_PRIMARYKEY", "Z_MAX = \(highest)", where: "t0.Z_ENT = \(stored) AND IFNULL(t0.Z_MAX, 0) < \(highest)"
    )
  }

  private func _mendFiles() throws {
    let directory = StoreFileFacts.externalDirectory(path: _path)
    let files = ExternalFiles.names(in: directory)
    guard !files.isEmpty else { return }
    var named: Set<String> = []
    for table in _anatomy.tables {
      for column in table.attributes where column.isExternal {
        try _connection.query(
          "SELECT \(column.column) FROM \(table.name) WHERE hex(substr(\(column.column), 1, 1)) = '02'"
        ) { row in
          named.insert(
            row.withBytes(0) { String(decoding: $0.dropFirst().prefix { $0 != 0 }, as: UTF8.self) })
        }
      }
    }
    for file in files where !named.contains(file) {
      try FileManager.default.removeItem(atPath: "\(directory)/\(file)")
    }
  }
}
