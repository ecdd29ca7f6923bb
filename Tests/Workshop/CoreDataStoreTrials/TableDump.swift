import CoreDataSQLiteBinding

/// All rows of a database, for comparison with an earlier or later dump.
package struct TableDump {
  package typealias Cells = [String: Binding]

  /// Rows by table, each under its key: the primary key, or all cells of a join table's row.
  package private(set) var tables: [String: [String: Cells]] = [:]
  /// Tables, indexes and triggers as SQL.
  package private(set) var schema: [String] = []

  /// - Parameter isIncluded: Whether a table belongs to the dump.
  package init(_ connection: Connection, where isIncluded: (String) -> Bool = { _ in true }) throws {
    var names: [String] = []
    try connection.query("SELECT type, name, sql FROM sqlite_master ORDER BY rowid") { row in
      if row.string(0) == "table", !row.string(1).hasPrefix("sqlite_") { names.append(row.string(1)) }
      schema.append(row.string(2))
    }
    for name in names where isIncluded(name) {
      var columns: [String] = []
      var keys: [String] = []
      try connection.query("SELECT name, pk FROM pragma_table_info(?)", [.text(name)]) { row in
        columns.append(row.string(0))
        if row.int64(1) > 0 { keys.append(row.string(0)) }
      }
      var rows: [String: Cells] = [:]
      try connection.query("SELECT * FROM \"\(name.replacing("\"", with: "\"\""))\"") { row in
        var cells: Cells = [:]
        for (index, column) in columns.enumerated() { cells[column] = row.value(Int32(index)) }
        let key = (keys.isEmpty ? columns : keys).map { "\(cells[$0]!)" }.joined(separator: " ")
        rows[key] = cells
      }
      tables[name] = rows
    }
  }
}
