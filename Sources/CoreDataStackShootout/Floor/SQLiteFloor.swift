import CoreDataCSQLite
import Foundation

/// The same import directly on SQLite's C API: the lower bound for all stacks.
///
/// Same tables and index as the stacks' store, same look-ups, same commits, same journal and `synchronous`
/// level. One prepared SELECT by indexed identifier and one INSERT or UPDATE per line; the highest key is
/// stored in `Z_PRIMARYKEY` once per transaction, as by a store.
struct SQLiteFloor: ImportFloor {
  private let _database: PlainSQLite
  private let _select: OpaquePointer
  private let _insert: OpaquePointer
  private let _update: OpaquePointer
  private let _keep: OpaquePointer

  /// Opens a new store file and prepares the statements; not included in the measured time.
  init(path: String) throws {
    _database = try PlainSQLite(path: path)
    try _database.execute(
      """
      PRAGMA auto_vacuum=2;
      PRAGMA journal_mode=WAL;
      PRAGMA synchronous=NORMAL;
      BEGIN;
      CREATE TABLE ZSTOP ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLATITUDE FLOAT, \
      ZLONGITUDE FLOAT, ZIDENTIFIER VARCHAR, ZNAME VARCHAR );
      CREATE INDEX Z_Stop_identifier ON ZSTOP (ZIDENTIFIER COLLATE BINARY ASC);
      CREATE INDEX Z_Stop_byIdentifier ON ZSTOP (ZIDENTIFIER COLLATE BINARY ASC);
      CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
      INSERT INTO Z_PRIMARYKEY VALUES (1, 'Stop', 0, 0);
      COMMIT;
      """)
    _select = try _database.prepare(
      """
      SELECT Z_PK, Z_OPT, ZLATITUDE, ZLONGITUDE, ZIDENTIFIER, ZNAME FROM ZSTOP WHERE ZIDENTIFIER = ? LIMIT 1
      """)
    _insert = try _database.prepare(
      """
      INSERT INTO ZSTOP (Z_PK, Z_ENT, Z_OPT, ZLATITUDE, ZLONGITUDE, ZIDENTIFIER, ZNAME)
      VALUES (?, 1, 1, ?, ?, ?, ?)
      """)
    _update = try _database.prepare(
      """
      UPDATE ZSTOP SET Z_OPT = ?, ZLATITUDE = ?, ZLONGITUDE = ?, ZIDENTIFIER = ?, ZNAME = ? WHERE Z_PK = ?
      """)
    _keep = try _database.prepare("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = 1")
  }

  func close() {
    for statement in [_select, _insert, _update, _keep] { sqlite3_finalize(statement) }
  }

  func run(_ stops: [Stop], mode: ImportMode, saveEvery: Int, didCommit: (Int) -> Void) throws -> Int {
    var highest: Int64 = 0
    var commits = 0
    var uncommitted = 0
    for (index, stop) in stops.enumerated() {
      if uncommitted == 0 { try _database.execute("BEGIN") }
      if mode != .insert, let found = try _find(stop.identifier) {
        try _write(stop, over: found)
      } else {
        highest += 1
        try _add(stop, key: highest)
      }
      uncommitted += 1
      if uncommitted == saveEvery || index == stops.count - 1 {
        sqlite3_bind_int64(_keep, 1, highest)
        try _finish(_keep, "UPDATE Z_PRIMARYKEY")
        try _database.execute("COMMIT")
        commits += 1
        uncommitted = 0
        didCommit(index + 1)
      }
    }
    return commits
  }

  private struct Found {
    let key: Int64
    let version: Int64
    let stop: Stop
  }

  /// Fetches a stop with all its columns, as an object's snapshot needs them.
  private func _find(_ identifier: String) throws -> Found? {
    var identifier = identifier
    return try identifier.withUTF8 { bytes in
      _bind(_select, 1, bytes)
      defer { sqlite3_reset(_select) }
      let code = sqlite3_step(_select)
      guard code == SQLITE_ROW else {
        try _database.check(code, "SELECT FROM ZSTOP")
        return nil
      }
      return Found(
        key: sqlite3_column_int64(_select, 0), version: sqlite3_column_int64(_select, 1),
        stop: Stop(
          identifier: _text(4), name: _text(5), latitude: sqlite3_column_double(_select, 2),
          longitude: sqlite3_column_double(_select, 3)))
    }
  }

  private func _text(_ column: Int32) -> String {
    PlainSQLite.text(_select, column) ?? ""
  }

  private func _add(_ stop: Stop, key: Int64) throws {
    sqlite3_bind_int64(_insert, 1, key)
    sqlite3_bind_double(_insert, 2, stop.latitude)
    sqlite3_bind_double(_insert, 3, stop.longitude)
    try _finish(_insert, texts: stop, at: 4, "INSERT INTO ZSTOP")
  }

  private func _write(_ stop: Stop, over found: Found) throws {
    sqlite3_bind_int64(_update, 1, found.version + 1)
    sqlite3_bind_double(_update, 2, stop.latitude)
    sqlite3_bind_double(_update, 3, stop.longitude)
    sqlite3_bind_int64(_update, 6, found.key)
    try _finish(_update, texts: stop, at: 4, "UPDATE ZSTOP")
  }

  /// Binds both texts in place, without a copy, and steps while they are valid.
  private func _finish(_ statement: OpaquePointer, texts stop: Stop, at index: Int32, _ context: String)
    throws
  {
    var (identifier, name) = (stop.identifier, stop.name)
    try identifier.withUTF8 { identifier in
      try name.withUTF8 { name in
        _bind(statement, index, identifier)
        _bind(statement, index + 1, name)
        try _finish(statement, context)
      }
    }
  }

  private func _finish(_ statement: OpaquePointer, _ context: String) throws {
    let code = sqlite3_step(statement)
    sqlite3_reset(statement)
    try _database.check(code, context)
  }

  private func _bind(_ statement: OpaquePointer, _ index: Int32, _ bytes: UnsafeBufferPointer<UInt8>) {
    bytes.withMemoryRebound(to: CChar.self) { characters in
      // An empty text must not become NULL.
      guard let start = characters.baseAddress, !characters.isEmpty else {
        sqlite3_bind_text(statement, index, "", 0, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
        return
      }
      sqlite3_bind_text(statement, index, start, Int32(characters.count), nil)
    }
  }
}
