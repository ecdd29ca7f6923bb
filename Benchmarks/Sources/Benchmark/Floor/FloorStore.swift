import CoreDataCSQLite

/// How the floor's file is laid out.
enum FloorFile: String, Codable {
  /// As the workload has it.
  case plain
  /// With what a file of Core Data's costs SQLite itself: incremental vacuuming, collations that are named,
  /// and two columns of bookkeeping in each row.
  case coreData = "core-data"
}

/// The workload's tables in a plain SQLite file.
enum FloorStore {
  static func create(path: String, as file: FloorFile) throws -> Database {
    let database = try Database(path: path, settings: file == .plain ? "" : "PRAGMA auto_vacuum=INCREMENTAL;")
    let (columns, collation) =
      file == .plain ? ("", "") : (", ent INTEGER DEFAULT 2, opt INTEGER DEFAULT 1", " COLLATE BINARY ASC")
    try database.execute(
      """
      CREATE TABLE route(id INTEGER PRIMARY KEY, identifier TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
      CREATE TABLE stop(id INTEGER PRIMARY KEY, identifier TEXT NOT NULL, name TEXT NOT NULL, latitude REAL NOT NULL,
        longitude REAL NOT NULL, code INTEGER NOT NULL, createdAt REAL NOT NULL, active INTEGER NOT NULL, note TEXT,
        routeId INTEGER\(columns));
      CREATE UNIQUE INDEX stop_identifier ON stop(identifier\(collation));
      CREATE INDEX stop_route ON stop(routeId);
      CREATE INDEX stop_code ON stop(code\(collation));
      """)
    try database.execute("BEGIN")
    for index in 0..<StopGenerator.routeCount {
      try database.execute(
        "INSERT INTO route VALUES(\(index + 1), '\(StopGenerator.routeIdentifier(index))', 'Route \(index)')")
    }
    try database.execute("COMMIT")
    return database
  }

  static let digestQuery = """
    SELECT id, identifier, name, latitude, longitude, code, createdAt, active, ifnull(note, '<nil>'), routeId
    FROM stop ORDER BY identifier
    """
  static let sumQuery = "SELECT SUM(code) + SUM(length(name)) + COUNT(*) FROM stop"
}

/// A stop as a C program holds one: numbers, and copies of its texts in an arena.
struct FloorStop {
  var id: Int64
  var latitude: Double
  var longitude: Double
  var code: Int64
  var createdAt: Double
  var route: Int64
  var identifier: UnsafeMutablePointer<UInt8>
  var name: UnsafeMutablePointer<UInt8>
  var note: UnsafeMutablePointer<UInt8>?
  var identifierCount: Int32
  var nameCount: Int32
  var noteCount: Int32
  var isActive: Bool

  static let columns = "id, identifier, name, latitude, longitude, code, createdAt, active, note, routeId"

  /// Reads the row that a statement over `columns` is at.
  @inline(__always) init(_ statement: OpaquePointer, _ texts: inout TextArena) {
    id = sqlite3_column_int64(statement, 0)
    identifierCount = 0
    identifier = Self._text(statement, 1, &identifierCount, &texts)!
    nameCount = 0
    name = Self._text(statement, 2, &nameCount, &texts)!
    latitude = sqlite3_column_double(statement, 3)
    longitude = sqlite3_column_double(statement, 4)
    code = sqlite3_column_int64(statement, 5)
    createdAt = sqlite3_column_double(statement, 6)
    isActive = sqlite3_column_int(statement, 7) != 0
    noteCount = 0
    note = Self._text(statement, 8, &noteCount, &texts)
    route = sqlite3_column_int64(statement, 9)
  }

  @inline(__always) private static func _text(
    _ statement: OpaquePointer, _ column: Int32, _ count: inout Int32, _ texts: inout TextArena
  ) -> UnsafeMutablePointer<UInt8>? {
    guard let text = sqlite3_column_text(statement, column) else { return nil }
    count = sqlite3_column_bytes(statement, column)
    return texts.copy(text, Int(count))
  }

  @inline(__always) var checksum: Int64 { code + Int64(nameCount) + Int64(noteCount) }
}
