import CoreDataCSQLite
import Foundation

/// Verifies a store through a new plain connection: whether it has the rows that the import should have
/// written.
struct StoreCheck {
  /// The problem with the store, as the end of a sentence.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private let _stops: [Stop]
  private let _mode: ImportMode

  /// Creates a check against the input; if a stop occurs more than once, its last line counts.
  init(stops: [Stop], mode: ImportMode) {
    _stops = stops
    _mode = mode
  }

  /// Checks the file's integrity, the number of rows and each row's values.
  ///
  /// - Returns: the number of rows.
  func run(path: String) throws -> Int {
    let database = try PlainSQLite(path: path, readOnly: true)
    let integrity = try database.rows("PRAGMA integrity_check").compactMap { $0[0] }
    guard integrity == ["ok"] else {
      throw Failure(description: "the file is damaged: \(integrity.prefix(3).joined(separator: "; "))")
    }
    var expected: [String: Stop] = [:]
    for stop in _stops { expected[stop.identifier] = stop }
    let count = _mode == .insert ? _stops.count : expected.count
    let rows = Int(try database.rows("SELECT COUNT(*) FROM ZSTOP")[0][0] ?? "") ?? -1
    guard rows == count else {
      throw Failure(description: "it holds \(rows) stops where the input makes \(count)")
    }
    try _compareValues(database, expected)
    return rows
  }

  private func _compareValues(_ database: PlainSQLite, _ expected: [String: Stop]) throws {
    let sql = "SELECT ZIDENTIFIER, ZNAME, ZLATITUDE, ZLONGITUDE FROM ZSTOP ORDER BY Z_PK"
    let statement = try database.prepare(sql)
    defer { sqlite3_finalize(statement) }
    var seen: [String: Stop] = [:]
    while true {
      let code = sqlite3_step(statement)
      guard code == SQLITE_ROW else {
        try database.check(code, sql)
        break
      }
      guard let identifier = PlainSQLite.text(statement, 0), let name = PlainSQLite.text(statement, 1) else {
        throw Failure(description: "it holds a stop without identifier or name")
      }
      seen[identifier] = Stop(
        identifier: identifier, name: name, latitude: sqlite3_column_double(statement, 2),
        longitude: sqlite3_column_double(statement, 3))
    }
    if _mode == .insert {
      // Each line created one row, and the engine numbers the rows of one save in any order, so it is
      // undefined which of several lines for one stop was seen last.
      guard seen.count == expected.count else {
        throw Failure(
          description: "it holds \(seen.count) different stops where the input has \(expected.count)")
      }
      return
    }
    if let wrong = expected.values.first(where: { seen[$0.identifier] != $0 }) {
      let found = seen[wrong.identifier].map { "\($0)" } ?? "nothing"
      throw Failure(description: "for stop '\(wrong.identifier)' it holds \(found) instead of \(wrong)")
    }
  }
}
