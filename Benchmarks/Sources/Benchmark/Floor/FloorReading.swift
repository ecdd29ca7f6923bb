import CoreDataCSQLite

/// Reads on SQLite's C API: one prepared statement, stepped for each question, and one transaction for all of them.
struct FloorReading {
  let database: Database

  func all(_ watch: Stopwatch) throws -> Check {
    watch.resume()
    let statement = try database.prepare("SELECT \(FloorStop.columns) FROM stop ORDER BY name")
    var stops = FloorStops()
    while sqlite3_step(statement) == SQLITE_ROW { stops.append(statement) }
    sqlite3_finalize(statement)
    var check = Check()
    stops.add(to: &check)
    watch.pause()
    return check
  }

  func pages(_ watch: Stopwatch) throws -> Check {
    try watch.time {
      let page = try Page(database)
      var stops = FloorStops()
      var check = Check()
      try database.reading { for question in PageQuestions() { page.ask(question, &stops, &check) } }
      return check
    }
  }

  /// The page that is asked for over and over.
  final class Page {
    /// Held, so that the statement's connection stays open.
    private let _database: Database
    private let _statement: OpaquePointer

    init(_ database: Database) throws {
      _database = database
      _statement = try database.prepare(
        "SELECT \(FloorStop.columns) FROM stop WHERE \(FloorReading._pageCondition) ORDER BY name LIMIT 50")
    }

    deinit { sqlite3_finalize(_statement) }

    func ask(_ question: (low: Int64, initial: UInt8), _ stops: inout FloorStops, _ check: inout Check) {
      FloorReading._asking(question, _statement) {
        while true {
          let code = sqlite3_step(_statement)
          if code == SQLITE_DONE { break }
          precondition(code == SQLITE_ROW, "a page could not be read: SQLite code \(code)")
          stops.append(_statement)
        }
      }
      stops.add(to: &check)
      stops.removeAll()
    }
  }

  func counts(_ watch: Stopwatch) throws -> Check {
    try watch.time {
      let statement = try database.prepare("SELECT COUNT(*) FROM stop WHERE \(Self._pageCondition)")
      defer { sqlite3_finalize(statement) }
      var check = Check()
      try database.reading {
        for question in PageQuestions() {
          Self._asking(question, statement) {
            if sqlite3_step(statement) == SQLITE_ROW {
              check.rows += 1
              check.sum += sqlite3_column_int64(statement, 0)
            }
          }
        }
      }
      return check
    }
  }

  /// Names that begin with a letter are those from it to the next one: two comparisons, where `GLOB` is a function.
  private static let _pageCondition = "code BETWEEN ? AND ? AND name >= ? AND name < ?"

  /// Binds a question, whose texts need not be copied because they outlive the statement's run.
  @inline(__always) private static func _asking(
    _ question: (low: Int64, initial: UInt8), _ statement: OpaquePointer, _ body: () -> Void
  ) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 2) { bounds in
      bounds[0] = CChar(question.initial)
      bounds[1] = CChar(question.initial + 1)
      sqlite3_bind_int64(statement, 1, question.low)
      sqlite3_bind_int64(statement, 2, question.low + 200_000)
      coredata_bind_text_borrowing(statement, 3, bounds.baseAddress, 1)
      coredata_bind_text_borrowing(statement, 4, bounds.baseAddress! + 1, 1)
      body()
      sqlite3_reset(statement)
    }
  }

  func byID(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Check {
    try watch.time {
      let statement = try database.prepare("SELECT \(FloorStop.columns) FROM stop WHERE id = ?")
      defer { sqlite3_finalize(statement) }
      var texts = TextArena()
      var check = Check()
      try database.reading {
        for id in ids {
          sqlite3_bind_int64(statement, 1, id)
          if sqlite3_step(statement) == SQLITE_ROW { Self._take(statement, &texts, &check) }
          sqlite3_reset(statement)
        }
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
      var texts = TextArena()
      var check = Check()
      try database.reading {
        while sqlite3_step(routes) == SQLITE_ROW {
          sqlite3_bind_int64(members, 1, sqlite3_column_int64(routes, 0))
          while sqlite3_step(members) == SQLITE_ROW { Self._take(members, &texts, &check) }
          sqlite3_reset(members)
        }
        sqlite3_reset(routes)
      }
      return check
    }
  }

  /// Reads one stop, which is not needed any longer when the next one is read.
  @inline(__always) private static func _take(
    _ statement: OpaquePointer, _ texts: inout TextArena, _ check: inout Check
  ) {
    check.rows += 1
    check.sum += FloorStop(statement, &texts).checksum
    texts.removeAll()
  }
}
