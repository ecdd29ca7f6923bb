import CoreDataCSQLite

/// Reads on SQLite's C API: one prepared statement, stepped for each question.
struct FloorReading {
  let database: Database

  func all(_ watch: Stopwatch) throws -> Check {
    watch.resume()
    let statement = try database.prepare("SELECT \(FloorStop.columns) FROM stop ORDER BY name")
    var stops: [FloorStop] = []
    while sqlite3_step(statement) == SQLITE_ROW { stops.append(FloorStop(statement)) }
    sqlite3_finalize(statement)
    var check = Check()
    for stop in stops {
      check.rows += 1
      check.sum += stop.checksum
    }
    watch.pause()
    for stop in stops { stop.free() }
    return check
  }

  static let pageCondition = "code BETWEEN ? AND ? AND name GLOB ?"

  func pages(_ watch: Stopwatch) throws -> Check {
    try watch.time {
      let page = try Page(database)
      var check = Check()
      for question in PageQuestions() { page.ask(question, &check) }
      return check
    }
  }

  /// The page that is asked for over and over.
  final class Page {
    /// Held, so that the statement's connection stays open.
    private let _database: Database
    private let _statement: OpaquePointer
    private var _stops: [FloorStop] = []

    init(_ database: Database) throws {
      _database = database
      _statement = try database.prepare(
        "SELECT \(FloorStop.columns) FROM stop WHERE \(pageCondition) ORDER BY name LIMIT 50")
    }

    deinit { sqlite3_finalize(_statement) }

    func ask(_ question: (low: Int64, initial: UInt8), _ check: inout Check) {
      FloorReading._bind(_statement, question)
      while true {
        let code = sqlite3_step(_statement)
        if code == SQLITE_DONE { break }
        precondition(code == SQLITE_ROW, "a page could not be read: SQLite code \(code)")
        _stops.append(FloorStop(_statement))
      }
      sqlite3_reset(_statement)
      for stop in _stops {
        check.rows += 1
        check.sum += stop.checksum
        stop.free()
      }
      _stops.removeAll(keepingCapacity: true)
    }
  }

  func counts(_ watch: Stopwatch) throws -> Check {
    try watch.time {
      let statement = try database.prepare("SELECT COUNT(*) FROM stop WHERE \(Self.pageCondition)")
      defer { sqlite3_finalize(statement) }
      var check = Check()
      for question in PageQuestions() {
        Self._bind(statement, question)
        if sqlite3_step(statement) == SQLITE_ROW {
          check.rows += 1
          check.sum += sqlite3_column_int64(statement, 0)
        }
        sqlite3_reset(statement)
      }
      return check
    }
  }

  private static func _bind(_ statement: OpaquePointer, _ question: (low: Int64, initial: UInt8)) {
    sqlite3_bind_int64(statement, 1, question.low)
    sqlite3_bind_int64(statement, 2, question.low + 200_000)
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 2) { pattern in
      pattern[0] = CChar(question.initial)
      pattern[1] = CChar(UInt8(ascii: "*"))
      _ = coredata_bind_text_copying(statement, 3, pattern.baseAddress, 2)
    }
  }

  func byID(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Check {
    try watch.time {
      let statement = try database.prepare("SELECT \(FloorStop.columns) FROM stop WHERE id = ?")
      defer { sqlite3_finalize(statement) }
      var check = Check()
      for id in ids {
        sqlite3_bind_int64(statement, 1, id)
        if sqlite3_step(statement) == SQLITE_ROW { _take(FloorStop(statement), &check) }
        sqlite3_reset(statement)
      }
      return check
    }
  }

  func traverse(_ watch: Stopwatch) throws -> Check {
    try watch.time {
      let routes = try database.prepare("SELECT id, identifier, name FROM route ORDER BY id")
      let members = try database.prepare("SELECT \(FloorStop.columns) FROM stop WHERE routeId = ?")
      defer {
        sqlite3_finalize(routes)
        sqlite3_finalize(members)
      }
      var ids: [Int64] = []
      while sqlite3_step(routes) == SQLITE_ROW { ids.append(sqlite3_column_int64(routes, 0)) }
      var check = Check()
      for id in ids {
        sqlite3_bind_int64(members, 1, id)
        while sqlite3_step(members) == SQLITE_ROW { _take(FloorStop(members), &check) }
        sqlite3_reset(members)
      }
      return check
    }
  }

  @inline(__always) private func _take(_ stop: FloorStop, _ check: inout Check) {
    check.rows += 1
    check.sum += stop.checksum
    stop.free()
  }
}
