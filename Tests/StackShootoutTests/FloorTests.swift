import Foundation
import Testing

@testable import CoreDataStackShootout

/// A directory that is removed with its owner.
final class ScratchDirectory {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("shootout-tests-\(UUID())").path

  init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Returns the path of a file in it.
  func file(_ name: String) -> String { path + "/" + name }
}

@Suite("The floor on SQLite's C API")
struct FloorTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  private func _run(
    _ stops: [Stop], mode: ImportMode = .findOrCreate, saveEvery: Int = 3
  ) throws -> (path: String, commits: Int, told: [Int]) {
    let path = _scratch.file("floor.sqlite")
    let floor = try SQLiteFloor(path: path)
    defer { floor.close() }
    var told: [Int] = []
    let commits = try floor.run(stops, mode: mode, saveEvery: saveEvery) { told.append($0) }
    return (path, commits, told)
  }

  private let _stops = [
    Stop(identifier: "1", name: "a", latitude: 1, longitude: 2),
    Stop(identifier: "2", name: "", latitude: 3, longitude: 4),
    Stop(identifier: "1", name: "ä\u{0}b", latitude: 5, longitude: 6),
    Stop(identifier: "3", name: "c", latitude: 7, longitude: 8),
  ]

  @Test func `A stop that comes again updates its row`() throws {
    let (path, commits, told) = try _run(_stops)
    #expect(commits == 2)
    #expect(told == [3, 4])
    #expect(try StoreCheck(stops: _stops, mode: .findOrCreate).run(SQLiteFiles.stops(path: path)) == 3)
    let rows = try PlainSQLite(path: path, readOnly: true)
      .rows("SELECT ZIDENTIFIER, Z_OPT FROM ZSTOP ORDER BY Z_PK")
    #expect(rows == [["1", "2"], ["2", "1"], ["3", "1"]])
    #expect(try PlainSQLite(path: path, readOnly: true).rows("SELECT Z_MAX FROM Z_PRIMARYKEY") == [["3"]])
  }

  @Test func `Without look-ups each line makes a row`() throws {
    let (path, _, _) = try _run(_stops, mode: .insert)
    #expect(try StoreCheck(stops: _stops, mode: .insert).run(SQLiteFiles.stops(path: path)) == 4)
  }

  @Test func `It writes ahead of the database and looks up by index`() throws {
    let (path, _, _) = try _run(_stops)
    let database = try PlainSQLite(path: path, readOnly: true)
    #expect(try database.rows("PRAGMA journal_mode") == [["wal"]])
    let plan = try database.rows("EXPLAIN QUERY PLAN SELECT * FROM ZSTOP WHERE ZIDENTIFIER = '1' LIMIT 1")
    #expect(plan[0][3]?.contains("Z_Stop_") == true)
  }

  @Test(arguments: [
    "DELETE FROM ZSTOP WHERE Z_PK = 1", "UPDATE ZSTOP SET ZNAME = 'other' WHERE Z_PK = 1",
    "UPDATE ZSTOP SET ZLATITUDE = 9 WHERE Z_PK = 2", "UPDATE ZSTOP SET ZNAME = NULL WHERE Z_PK = 2",
    "INSERT INTO ZSTOP (Z_PK, ZIDENTIFIER, ZNAME) VALUES (99, '1', 'again')",
  ])
  func `A store that differs from the input does not pass`(sql: String) throws {
    let (path, _, _) = try _run(_stops)
    try PlainSQLite(path: path).execute(sql)
    #expect(throws: StoreCheck.Failure.self) {
      try StoreCheck(stops: _stops, mode: .findOrCreate).run(SQLiteFiles.stops(path: path))
    }
  }

  @Test func `A damaged file does not pass`() throws {
    let stops = GeneratedCity.stops(count: 2000)
    let (path, _, _) = try _run(stops, saveEvery: 500)
    try PlainSQLite(path: path).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.seek(toOffset: 4096 * 8)
    try file.write(contentsOf: Data(repeating: 0xAB, count: 4096 * 4))
    try file.close()
    #expect(throws: (any Error).self) {
      try StoreCheck(stops: stops, mode: .findOrCreate).run(SQLiteFiles.stops(path: path))
    }
  }
}
