import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

/// Damages the contents of a database with SQL.
struct SQLMutation {
  private let _connection: Connection
  private let _tables: [String]

  init(_ connection: Connection, _ numbers: inout SeededRandom) throws {
    _connection = connection
    var tables: [String] = []
    // Triggers call functions that only a store's own connections have.
    var triggers: [String] = []
    try connection.query(
      "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'trigger') ORDER BY name"
    ) { row in
      if row.string(0) == "table" { tables.append(row.string(1)) } else { triggers.append(row.string(1)) }
    }
    for trigger in triggers { try connection.execute("DROP TRIGGER \(Self._quoted(trigger))") }
    _tables = tables.filter { !$0.hasPrefix("sqlite_") }
  }

  func apply(_ mutation: Mutation, _ numbers: inout SeededRandom) throws {
    for _ in 0..<Int.random(in: 1...6, using: &numbers) {
      switch mutation {
      case .wrongCells: _set(_tables.filter { !$0.hasPrefix("Z_") || $0.hasPrefix("Z_1") }, &numbers)
      case .wrongKeys: _set(["Z_PRIMARYKEY"], &numbers)
      case .wrongMetadata: _set(["Z_METADATA"], &numbers)
      case .wrongModelCache: _spoilBlob("Z_MODELCACHE", "Z_CONTENT", &numbers)
      default: _drop(&numbers)
      }
    }
    if mutation == .wrongMetadata { _spoilBlob("Z_METADATA", "Z_PLIST", &numbers) }
  }

  private func _set(_ tables: [String], _ numbers: inout SeededRandom) {
    guard let table = tables.randomElement(using: &numbers) else { return }
    var columns: [String] = []
    try? _connection.query("SELECT name FROM pragma_table_info(?)", [.text(table)]) {
      columns.append($0.string(0))
    }
    guard let column = columns.randomElement(using: &numbers) else { return }
    let name = Self._quoted(table)
    if Bool.random(using: &numbers), Int.random(in: 0..<3, using: &numbers) == 0 {
      // A row of random values.
      let values = columns.map { _ in _value(&numbers) }
      try? _connection.query(
        "INSERT INTO \(name) VALUES (\(values.map { _ in "?" }.joined(separator: ", ")))", values)
      return
    }
    let condition =
      Bool.random(using: &numbers) ? "" : " WHERE rowid % 3 = \(Int.random(in: 0..<3, using: &numbers))"
    try? _connection.query(
      "UPDATE OR IGNORE \(name) SET \(Self._quoted(column)) = ?\(condition)", [_value(&numbers)])
  }

  private func _value(_ numbers: inout SeededRandom) -> Binding {
    switch Int.random(in: 0..<12, using: &numbers) {
    case 0: .null
    case 1: .int(.max)
    case 2: .int(.min)
    case 3: .int(Int64.random(in: -5...40, using: &numbers))
    case 4: .double(.infinity)
    case 5: .double(Double(bitPattern: numbers.next()))
    case 6: .double(-1e300)
    case 7: .text("")
    case 8: .text("12 monkeys \u{0} \u{FFFF} é")
    case 9: .text(String(repeating: "x", count: 70_000))
    case 10: .blob([])
    default:
      .blob(
        (0..<Int.random(in: 1...60, using: &numbers)).map { _ in UInt8.random(in: 0...3, using: &numbers) })
    }
  }

  private func _spoilBlob(_ table: String, _ column: String, _ numbers: inout SeededRandom) {
    guard case .blob(var bytes)? = try? _connection.firstValue("SELECT \(column) FROM \(table)"),
      !bytes.isEmpty
    else {
      return
    }
    switch Int.random(in: 0..<3, using: &numbers) {
    case 0: bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &numbers)))
    default:
      for _ in 0..<Int.random(in: 1...12, using: &numbers) {
        bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= UInt8.random(in: 1...255, using: &numbers)
      }
    }
    try? _connection.query("UPDATE \(table) SET \(column) = ?", [.blob(bytes)])
  }

  private func _drop(_ numbers: inout SeededRandom) {
    guard let table = _tables.randomElement(using: &numbers) else { return }
    let name = Self._quoted(table)
    switch Int.random(in: 0..<4, using: &numbers) {
    case 0: try? _connection.execute("DROP TABLE \(name)")
    case 1: try? _connection.execute("DELETE FROM \(name)")
    case 2: try? _connection.execute("ALTER TABLE \(name) RENAME TO \(Self._quoted(table + "X"))")
    default:
      var columns: [String] = []
      try? _connection.query("SELECT name FROM pragma_table_info(?)", [.text(table)]) {
        columns.append($0.string(0))
      }
      guard let column = columns.randomElement(using: &numbers) else { return }
      try? _connection.execute(
        "ALTER TABLE \(name) RENAME COLUMN \(Self._quoted(column)) TO \(Self._quoted("X" + column))")
    }
  }

  private static func _quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }
}

/// Databases that are not stores, some of which resemble one.
enum ForeignDatabase {
  static func make(_ target: URL, _ numbers: inout SeededRandom) throws {
    let connection = try Connection(path: target.path)
    let metadata = """
      CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
      INSERT INTO Z_METADATA VALUES (1, '6A2E0C5E-0000-4000-8000-000000000001', NULL)
      """
    let keys =
      "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)"
    let kinds = [
      "CREATE TABLE people (name TEXT, age INTEGER); INSERT INTO people VALUES ('a', 1)",
      "CREATE TABLE Z_METADATA (a)",
      "CREATE VIEW Z_METADATA AS SELECT 1 AS Z_VERSION, 'x' AS Z_UUID, x'00' AS Z_PLIST",
      "\(metadata); CREATE VIEW Z_PRIMARYKEY AS SELECT 1 AS Z_ENT, 'A' AS Z_NAME, 0 AS Z_SUPER, 5 AS Z_MAX; "
        + "CREATE VIEW ZA AS SELECT 1 AS Z_PK, 1 AS Z_ENT, 1 AS Z_OPT",
      // Cycles of parents, entities with the same name, and names of nonexistent entities.
      "\(metadata); \(keys); INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 2, 1), (2, 'B', 1, 1)",
      "\(metadata); \(keys); INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 1, 1); CREATE TABLE ZA (Z_PK, Z_ENT, Z_OPT)",
      "\(metadata); \(keys); INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 0, 1), (2, 'A', 0, 1); "
        + "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZX VARCHAR, Zx1 VARCHAR)",
      "\(metadata); \(keys); INSERT INTO Z_PRIMARYKEY VALUES (1, '', 0, 1), (2, 'a\"b', 0, 1), (3, 'ß', 0, 0)",
      "\(metadata); \(keys); INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 0, 1); "
        + "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZA INTEGER, Z_FOK_A INTEGER, ZOBJECTID INTEGER, "
        + "ZSELF VARCHAR, ZHASCHANGES VARCHAR, ZDESCRIPTION VARCHAR); CREATE INDEX ZA_ZA_INDEX ON ZA (ZA); INSERT INTO ZA VALUES (1, 1, 1, 1, 1, 1, 'a', 'b', 'c')",
      "\(metadata); \(keys); INSERT INTO Z_PRIMARYKEY VALUES (1, 'A', 0, 1); "
        + "CREATE TABLE ZA (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER); "
        + "CREATE TABLE Z_1BS (Z_1AS INTEGER, Z_99BS INTEGER, PRIMARY KEY (Z_1AS, Z_99BS)); CREATE TABLE Z_2 (a, b)",
    ]
    try connection.execute(kinds.randomElement(using: &numbers)!)
    if Bool.random(using: &numbers) { try connection.execute("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)") }
  }
}
