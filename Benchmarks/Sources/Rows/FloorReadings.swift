import CoreDataCSQLite
import Foundation
import Measuring

/// The steps on SQLite's C API, as a good C program does them.
struct FloorReadings {
  let database: Database
  let rows: Int

  /// - Parameter isNew: Whether to create the tables.
  init(path: String, rows: Int, isNew: Bool) throws {
    database = try Database(path: path)
    self.rows = rows
    guard isNew else { return }
    try database.execute(
      """
      CREATE TABLE reading(id INTEGER PRIMARY KEY, sensor INTEGER, moment REAL, value REAL, note TEXT);
      CREATE INDEX reading_sensor_moment ON reading(sensor, moment);
      """)
  }

  /// Columns whose sums a step leaves, in the order of `RowsCheck`.
  static let sumQuery =
    "SELECT SUM(sensor) + SUM(moment) + CAST(SUM(value) * 100 AS INTEGER) + SUM(IFNULL(LENGTH(note), 0)) FROM reading"
  static let countQuery = "SELECT COUNT(*) FROM reading"

  /// - Returns: What the step has found, to be worked out when time and memory are taken.
  func run(_ step: RowsStep) throws -> () -> RowsCheck {
    var check = RowsCheck()
    switch step {
    case .importObjects: try _import(saving: ReadingValues.batch)
    case .importBatch: try _import(saving: EngineReadings.rowsOfRequest)
    case .open: check = try _check("SELECT id, sensor, moment, value, note FROM reading LIMIT 1")
    case .countAll: check.rows = Int(try database.number(Self.countQuery))
    case .countIndex:
      check.rows = Int(try database.number("\(Self.countQuery) WHERE sensor = 7"))
    case .countScan:
      check.rows = Int(try database.number("\(Self.countQuery) WHERE value > 99.9"))
    case .pageFirst:
      check = try _check("\(Self._all) WHERE sensor = 7 ORDER BY moment LIMIT 50")
    case .pageMiddle:
      check = try _check("\(Self._all) ORDER BY sensor, moment LIMIT 50 OFFSET \(rows / 2)")
    case .pageKey:
      check = try _check(
        "\(Self._all) WHERE sensor = 500 AND moment > \(ReadingValues.middle(rows)) ORDER BY moment LIMIT 50")
    case .sum:
      let statement = try database.prepare("SELECT SUM(value), MAX(value) FROM reading")
      defer { sqlite3_finalize(statement) }
      _ = sqlite3_step(statement)
      check = EngineReadings.check(
        sum: sqlite3_column_double(statement, 0), maximum: sqlite3_column_double(statement, 1))
    case .walk: check = try _walk()
    case .ids:
      let ids = try _ids("SELECT id FROM reading")
      return { EngineReadings.check(ids.count, by: 1000) { ids[$0] } }
    case .updateTenth: try database.execute("UPDATE reading SET note = 'seen' WHERE sensor < 100")
    case .updateTenthIDs:
      let ids = try _ids("UPDATE reading SET note = 'again' WHERE sensor < 100 RETURNING id")
      return { EngineReadings.check(ids.count, by: 1) { ids[$0] } }
    case .deleteObjects: try _deleteOneByOne()
    case .deleteTenth: try database.execute("DELETE FROM reading WHERE sensor < 100")
    case .addAttribute: try database.execute("ALTER TABLE reading ADD COLUMN quality INTEGER")
    case .changeType:
      try database.execute(
        """
        BEGIN IMMEDIATE;
        CREATE TABLE other(id INTEGER PRIMARY KEY, sensor REAL, moment REAL, value REAL, note TEXT, quality INTEGER);
        INSERT INTO other SELECT id, sensor, moment, value, note, quality FROM reading;
        DROP TABLE reading;
        ALTER TABLE other RENAME TO reading;
        CREATE INDEX reading_sensor_moment ON reading(sensor, moment);
        COMMIT
        """)
    }
    return { [check] in check }
  }

  private static let _all = "SELECT id, sensor, moment, value, note FROM reading"

  // MARK: Writing

  private func _import(saving batch: Int) throws {
    let insert = try database.prepare("INSERT INTO reading(sensor, moment, value, note) VALUES(?, ?, ?, ?)")
    defer { sqlite3_finalize(insert) }
    try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
      for start in stride(from: 0, to: rows, by: batch) {
        try database.execute("BEGIN IMMEDIATE")
        for number in start..<min(rows, start + batch) {
          sqlite3_bind_int64(insert, 1, Int64(ReadingValues.sensor(number)))
          sqlite3_bind_double(insert, 2, ReadingValues.moment(number))
          sqlite3_bind_double(insert, 3, ReadingValues.value(number))
          if ReadingValues.hasNote(number) {
            coredata_bind_text_borrowing(insert, 4, text.baseAddress, Self._note(number, into: text))
          } else {
            sqlite3_bind_null(insert, 4)
          }
          try database.run(insert)
        }
        try database.execute("COMMIT")
      }
    }
  }

  /// Writes a note as `ReadingValues.note` has it, and returns its length.
  private static func _note(_ number: Int, into text: UnsafeMutableBufferPointer<CChar>) -> Int32 {
    let prefix: StaticString = "checked "
    memcpy(text.baseAddress!, prefix.utf8Start, prefix.utf8CodeUnitCount)
    var digits = 1
    var rest = number / 10
    while rest > 0 {
      digits += 1
      rest /= 10
    }
    rest = number
    for place in (0..<digits).reversed() {
      text[prefix.utf8CodeUnitCount + place] = CChar(48 + rest % 10)
      rest /= 10
    }
    return Int32(prefix.utf8CodeUnitCount + digits)
  }

  private func _deleteOneByOne() throws {
    let find = try database.prepare("\(Self._all) WHERE sensor >= 900 LIMIT 1000")
    let delete = try database.prepare("DELETE FROM reading WHERE id = ?")
    defer { for statement in [find, delete] { sqlite3_finalize(statement) } }
    var ids: [Int64] = []
    ids.reserveCapacity(1000)
    repeat {
      ids.removeAll(keepingCapacity: true)
      try database.execute("BEGIN IMMEDIATE")
      while sqlite3_step(find) == SQLITE_ROW { ids.append(sqlite3_column_int64(find, 0)) }
      sqlite3_reset(find)
      for id in ids {
        sqlite3_bind_int64(delete, 1, id)
        try database.run(delete)
      }
      try database.execute("COMMIT")
    } while !ids.isEmpty
  }

  // MARK: Reading

  /// Reads every column of a query's rows over `_all`.
  private func _check(_ sql: String) throws -> RowsCheck {
    let statement = try database.prepare(sql)
    defer { sqlite3_finalize(statement) }
    var check = RowsCheck()
    while sqlite3_step(statement) == SQLITE_ROW { Self._add(statement, to: &check) }
    return check
  }

  @inline(__always) private static func _add(_ statement: OpaquePointer, to check: inout RowsCheck) {
    check.rows += 1
    check.sum += sqlite3_column_int64(statement, 1) + Int64(sqlite3_column_double(statement, 2))
    check.sum += Int64(sqlite3_column_double(statement, 3))
    if sqlite3_column_text(statement, 4) != nil { check.sum += Int64(sqlite3_column_bytes(statement, 4)) }
  }

  /// All rows in the order of the index, copied as objects would be, 10,000 at a time.
  private func _walk() throws -> RowsCheck {
    let statement = try database.prepare("\(Self._all) ORDER BY sensor, moment")
    defer { sqlite3_finalize(statement) }
    var check = RowsCheck()
    let texts = UnsafeMutablePointer<UInt8>.allocate(capacity: 32 * 10_000)
    defer { texts.deallocate() }
    while sqlite3_step(statement) == SQLITE_ROW {
      if let text = sqlite3_column_text(statement, 4) {
        memcpy(texts + check.rows % 10_000 * 32, text, Int(sqlite3_column_bytes(statement, 4)))
      }
      Self._add(statement, to: &check)
    }
    return check
  }

  private func _ids(_ sql: String) throws -> [Int64] {
    let statement = try database.prepare(sql)
    defer { sqlite3_finalize(statement) }
    var ids: [Int64] = []
    while sqlite3_step(statement) == SQLITE_ROW { ids.append(sqlite3_column_int64(statement, 0)) }
    return ids
  }
}
