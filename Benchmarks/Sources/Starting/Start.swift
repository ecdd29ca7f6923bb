import CoreData
import CoreDataCSQLite
import Foundation

/// One start: opens the store and reads the first products, says how long that took, and waits to be looked at.
struct Start {
  enum Side: String, CaseIterable { case engine, floor }

  let side: Side
  let path: String

  func run() throws {
    var begin = timespec()
    clock_gettime(CLOCK_MONOTONIC, &begin)
    switch side {
    case .engine:
      let store = try ShopStore(path)
      let check = try store.firstProducts()
      _say(since: begin, check)
      withExtendedLifetime(store) { _ = readLine() }
    case .floor:
      let database = try _open()
      let check = try _firstProducts(database)
      _say(since: begin, check)
      _ = readLine()
      sqlite3_close(database)
    }
  }

  private func _say(since begin: timespec, _ check: Int64) {
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    let milliseconds = Double(end.tv_sec - begin.tv_sec) * 1e3 + Double(end.tv_nsec - begin.tv_nsec) / 1e6
    let text = String(format: "%.4f \(check)\n", milliseconds)
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  // MARK: SQLite alone

  private struct Failure: Error, CustomStringConvertible { let description: String }

  private func _open() throws -> OpaquePointer {
    var database: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
    guard sqlite3_open_v2(path, &database, flags, nil) == SQLITE_OK, let database else {
      throw Failure(description: "SQLite cannot open '\(path)'")
    }
    sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL", nil, nil, nil)
    return database
  }

  private func _firstProducts(_ database: OpaquePointer) throws -> Int64 {
    var statement: OpaquePointer?
    let sql = "SELECT ZPRODUCTID, * FROM ZPRODUCT ORDER BY ZPRODUCTID LIMIT \(ShopStore.pageSize)"
    guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
      throw Failure(description: "SQLite cannot read products: \(String(cString: sqlite3_errmsg(database)))")
    }
    guard let statement else { return 0 }
    defer { sqlite3_finalize(statement) }
    var sum: Int64 = 0
    while sqlite3_step(statement) == SQLITE_ROW {
      sum += sqlite3_column_int64(statement, 0)
      for column in 1..<sqlite3_column_count(statement) { _read(column, of: statement) }
    }
    return sum
  }

  private func _read(_ column: Int32, of statement: OpaquePointer) {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: _ = sqlite3_column_int64(statement, column)
    case SQLITE_FLOAT: _ = sqlite3_column_double(statement, column)
    default: _ = sqlite3_column_text(statement, column)
    }
  }
}
