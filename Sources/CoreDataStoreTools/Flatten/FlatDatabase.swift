import CoreDataSQLiteBinding
import CoreDataToolKit

/// Plain tables in an SQLite file, which is new.
final class FlatDatabase: FlatSink {
  private let _connection: Connection
  private let _path: String
  private var _insertion: Statement?

  /// - Throws: `ToolFailure`, also if an index is wanted and SQLite has none for texts. So do all functions.
  init(path: String, indexesTexts: Bool) throws {
    _path = path
    _connection = try Self._writing(path) { try Connection(path: path, mode: .create) }
    if indexesTexts, try !_connection.hasModule("fts5") {
      throw ToolFailure(.usage, "This build of SQLite has no FTS5. Leave '--search' out.")
    }
    try Self._writing(path) {
      // The file gets its name when it is complete, and so needs no journal.
      try _connection.query("PRAGMA journal_mode = OFF")
      try _connection.execute("PRAGMA synchronous = OFF")
      try _connection.execute("BEGIN")
    }
  }

  /// Names the output in errors, and not the store that is read.
  private static func _writing<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw ToolFailure(.cannotCreateOutput, "'\(path)' cannot be written: \(error.message).")
    }
  }

  private func _execute(_ sql: String) throws {
    try Self._writing(_path) { try _connection.execute(sql) }
  }

  private static func _quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  private static func _list(_ names: [String]) -> String { names.map(_quoted).joined(separator: ", ") }

  func begin(_ table: String, _ columns: [FlatSchema.Column], key: [String]) throws {
    let isRowID = key.count == 1 && columns.first?.name == key[0] && columns.first?.type == .integer
    var parts = columns.map { column in
      let name = Self._quoted(column.name)
      if isRowID, column.name == key[0] { return "\(name) INTEGER PRIMARY KEY" }
      return "\(name) \(column.type.rawValue)"
        + (column.reference.map { " REFERENCES \(Self._quoted($0)) (\"id\")" } ?? "")
    }
    if !isRowID, !key.isEmpty { parts.append("PRIMARY KEY (\(Self._list(key)))") }
    try _execute(
      "CREATE TABLE \(Self._quoted(table)) (\(parts.joined(separator: ", ")))"
        + (isRowID || key.isEmpty ? "" : " WITHOUT ROWID"))
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    // OR REPLACE: a damaged store may have an object twice in a relationship.
    _insertion = try Self._writing(_path) {
      try _connection.prepare("INSERT OR REPLACE INTO \(Self._quoted(table)) VALUES (\(marks))")
    }
  }

  func add(_ row: [FlatValue]) throws {
    guard let statement = _insertion else { return }
    for (index, value) in row.enumerated() {
      let place = Int32(index + 1)
      switch value {
      case .null: statement.bindNull(at: place)
      case .integer(let number): statement.bind(number, at: place)
      case .real(let number): statement.bind(number, at: place)
      case .text(let text): statement.bind(text, at: place)
      case .bytes(let data): data.withUnsafeBytes { statement.bind(blob: $0, at: place) }
      }
    }
    defer { statement.reset() }
    try Self._writing(_path) { try statement.run() }
  }

  func end() { _insertion = nil }

  func add(_ view: FlatSchema.View) throws {
    let names = view.entities.map { "'\($0.replacing("'", with: "''"))'" }.joined(separator: ", ")
    try _execute(
      "CREATE VIEW \(Self._quoted(view.name)) AS SELECT \(Self._list(view.columns)) FROM \(Self._quoted(view.table)) "
        + "WHERE \"entity\" IN (\(names))")
  }

  func index(_ texts: [String], of table: String) throws {
    let name = Self._quoted(table + "_fts")
    // With the table as its content, by which programs find it: datasette and sqlite-utils in double quotes only.
    try _execute(
      "CREATE VIRTUAL TABLE \(name) USING fts5(\(Self._list(texts)), content=\(Self._quoted(table)), content_rowid=\"id\")"
    )
    try _execute("INSERT INTO \(name)(\(name)) VALUES ('rebuild')")
  }

  func finish() throws { try _execute("COMMIT") }
}
