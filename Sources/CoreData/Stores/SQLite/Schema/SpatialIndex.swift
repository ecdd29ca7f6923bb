import CoreDataSQLiteBinding

/// An R-tree index of an entity's table: a virtual table with a row for each object, and the triggers that
/// maintain it.
///
/// The form is that of the few files of Apple's which have one. Whether Core Data gives it to every R-tree
/// index of a model is not known.
package struct SpatialIndex: Sendable, Hashable {
  /// Plain name of the virtual table.
  package let name: String
  /// Plain name of the entity's table.
  package let table: String
  /// Plain names of the columns with the coordinates.
  let columns: [String]

  /// SQLite's limit.
  static let dimensionLimit = 5
  static let module = "rtree"

  static func name(_ entity: String, _ index: String) -> String { "Z_RT_\(entity)_\(index)" }

  // MARK: Statements

  private var _name: String { StoreVocabulary.quoted(name) }
  private var _table: String { StoreVocabulary.quoted(table) }

  private var _bounds: [String] {
    columns.flatMap { [StoreVocabulary.quoted($0 + "_MIN"), StoreVocabulary.quoted($0 + "_MAX")] }
  }

  var creation: String {
    "CREATE VIRTUAL TABLE \(_name) USING RTREE (Z_PK INTEGER PRIMARY KEY, "
      + _bounds.map { "\($0) FLOAT" }.joined(separator: ", ") + ")"
  }

  /// The triggers, with Core Data's wording.
  var triggers: [(name: String, sql: String)] {
    let list = (["Z_PK"] + _bounds).joined(separator: ", ")
    let values = columns.enumerated().map { number, column in
      let value = "NEW.\(StoreVocabulary.quoted(column))"
      return number == 0 ? "\(value) ,\(value)" : "\(value), \(value)"
    }
    let row = "INTO \(_name) (\(list)) VALUES (NEW.Z_PK, \(values.joined(separator: ", "))) ;"
    func trigger(_ event: String, _ steps: String) -> (String, String) {
      let trigger = "\(name)_\(event)"
      return (
        trigger,
        "CREATE TRIGGER \(StoreVocabulary.quoted(trigger)) AFTER \(event) ON \(_table) FOR EACH ROW BEGIN \(steps) END"
      )
    }
    return [
      trigger("INSERT", "INSERT OR REPLACE \(row)"),
      trigger("UPDATE", "DELETE FROM \(_name) WHERE Z_PK = NEW.Z_PK ; INSERT \(row)"),
      trigger("DELETE", "DELETE FROM \(_name) WHERE Z_PK = OLD.Z_PK ;"),
    ]
  }

  /// Fills the virtual table from the entity's.
  var filling: String {
    let values = columns.flatMap { [StoreVocabulary.quoted($0), StoreVocabulary.quoted($0)] }
    return "INSERT INTO \(_name) (\((["Z_PK"] + _bounds).joined(separator: ", "))) "
      + "SELECT \((["Z_PK"] + values).joined(separator: ", ")) FROM \(_table)"
  }

  /// Drops the indexes that triggers maintain, and returns them.
  package static func drop(on connection: Connection) throws -> [SpatialIndex] {
    let indexes = try ForeignSchema(connection).spatialIndexes
    for index in indexes {
      for trigger in index.triggers {
        try connection.execute("DROP TRIGGER \(StoreVocabulary.quoted(trigger.name))")
      }
      try connection.execute("DROP TABLE \(index._name)")
    }
    return indexes
  }

  /// Returns the condition for rows of the entity's table (`t0`) without an entry.
  package var isMissing: String { "t0.Z_PK NOT IN (SELECT Z_PK FROM \(_name))" }

  /// Counts the entries without a row.
  package var strayEntries: String {
    "SELECT COUNT(*) FROM \(_name) WHERE Z_PK NOT IN (SELECT Z_PK FROM \(_table))"
  }

  package func make(on connection: Connection, fills: Bool) throws {
    try connection.execute(creation)
    if fills { try connection.execute(filling) }
    for trigger in triggers { try connection.execute(trigger.sql) }
  }

  /// Returns the indexes, or none if SQLite lacks the module: an index never prevents a store from opening.
  static func makeable(_ indexes: [SpatialIndex], on connection: Connection) throws -> [SpatialIndex] {
    if indexes.isEmpty { return [] }
    if try connection.hasModule(module) { return indexes }
    for index in indexes {
      Console.warnOnce(
        about: "R-tree module \(index.name)",
        "the R-tree index \(index.name) is left out: SQLite was built without the module rtree")
    }
    return []
  }

  // MARK: In a file

  /// Returns the indexes of a file that its triggers maintain, recognized by the whole text of all three.
  ///
  /// None if SQLite lacks the module, which is needed to read such a table's columns.
  ///
  /// - Parameter tables: Names of virtual tables of the module.
  static func maintained(_ tables: [String], on connection: Connection) throws -> [SpatialIndex] {
    guard !tables.isEmpty, try connection.hasModule(module) else { return [] }
    return try tables.compactMap { try SpatialIndex(maintained: $0, on: connection) }
  }

  private init?(maintained name: String, on connection: Connection) throws {
    var columns: [String] = []
    try connection.query("SELECT name FROM pragma_table_info(?)", [.text(name)]) {
      columns.append($0.string(0))
    }
    let bounds = columns.dropFirst()
    let owner = try connection.firstValue(
      "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND name = ?", [.text(name + "_INSERT")])
    guard columns.first == "Z_PK", !bounds.isEmpty, bounds.count.isMultiple(of: 2),
      case .text(let table)? = owner
    else { return nil }
    self.name = name
    self.table = table
    self.columns = stride(from: 1, to: columns.count, by: 2).map { String(columns[$0].dropLast(4)) }
    guard bounds.elementsEqual(self.columns.flatMap { [$0 + "_MIN", $0 + "_MAX"] }) else { return nil }
    for trigger in triggers {
      let found = try connection.firstValue(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND name = ?", [.text(trigger.name)])
      guard case .text(let sql)? = found, SchemaText.isSame(sql, trigger.sql) else { return nil }
    }
  }

  init(name: String, table: String, columns: [String]) {
    self.name = name
    self.table = table
    self.columns = columns
  }
}

/// Comparison of statements in a file's schema.
enum SchemaText {
  /// Whether two statements are the same but for quotes around plain names, which SQLite adds to some when a
  /// table is renamed.
  static func isSame(_ one: String, _ other: String) -> Bool { one == other || bare(one) == bare(other) }

  /// Returns a statement without the quotes around plain names.
  static func bare(_ sql: String) -> String {
    guard sql.utf8.contains(UInt8(ascii: "\"")) else { return sql }
    var result = ""
    var rest = sql[...]
    while let start = rest.firstIndex(of: "\""),
      let end = rest[rest.index(after: start)...].firstIndex(of: "\"")
    {
      let name = String(rest[rest.index(after: start)..<end])
      result += rest[..<start]
      result += StoreVocabulary.quoted(name) == name ? name : "\"\(name)\""
      rest = rest[rest.index(after: end)...]
    }
    return result + rest
  }
}
