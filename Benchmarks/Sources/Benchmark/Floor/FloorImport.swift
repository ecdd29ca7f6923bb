import CoreDataCSQLite

/// Imports on SQLite's C API: statements prepared once, one transaction a batch.
struct FloorImport {
  let database: Database
  let count: Int
  let batch: Int
  let finds: Bool
  var seed: UInt64 = 42
  var shift: Double = 0
  /// Whether making the records counts, as in the work with a reader beside it.
  var timesGenerator = false

  func run(_ watch: Stopwatch) throws {
    var generator = StopGenerator(seed: seed, shift: shift)
    let texts = UnsafeMutablePointer<UInt8>.allocate(capacity: batch * StopGenerator.stride)
    let numbers = UnsafeMutablePointer<StopNumbers>.allocate(capacity: batch)
    defer {
      texts.deallocate()
      numbers.deallocate()
    }
    watch.resume()
    let find = try database.prepare("SELECT id FROM stop WHERE identifier = ?")
    let insert = try database.prepare(
      """
      INSERT INTO stop(identifier, name, latitude, longitude, code, createdAt, active, note, routeId)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    let update = try database.prepare(
      """
      UPDATE stop SET identifier = ?, name = ?, latitude = ?, longitude = ?, code = ?, createdAt = ?, active = ?,
        note = ?, routeId = ? WHERE id = ?
      """)
    let begin = try database.prepare("BEGIN IMMEDIATE")
    let commit = try database.prepare("COMMIT")
    defer { for statement in [find, insert, update, begin, commit] { sqlite3_finalize(statement) } }
    var done = 0
    while done < count {
      let size = min(batch, count - done)
      if !timesGenerator { watch.pause() }
      for index in 0..<size {
        (numbers + index).initialize(to: generator.next(into: texts + index * StopGenerator.stride))
      }
      if !timesGenerator { watch.resume() }
      try database.run(begin)
      for index in 0..<size {
        let text = UnsafeRawPointer(texts + index * StopGenerator.stride).assumingMemoryBound(to: CChar.self)
        var statement = insert
        if finds {
          coredata_bind_text_borrowing(find, 1, text + StopGenerator.identifier.lowerBound, 17)
          if sqlite3_step(find) == SQLITE_ROW {
            sqlite3_bind_int64(update, 10, sqlite3_column_int64(find, 0))
            statement = update
          }
          sqlite3_reset(find)
        }
        _bind(statement, text, numbers[index])
        try database.run(statement)
      }
      try database.run(commit)
      done += size
    }
    watch.pause()
  }

  @inline(__always)
  private func _bind(_ statement: OpaquePointer, _ text: UnsafePointer<CChar>, _ numbers: StopNumbers) {
    coredata_bind_text_borrowing(statement, 1, text + StopGenerator.identifier.lowerBound, 17)
    coredata_bind_text_borrowing(statement, 2, text + StopGenerator.name.lowerBound, 16)
    sqlite3_bind_double(statement, 3, numbers.latitude)
    sqlite3_bind_double(statement, 4, numbers.longitude)
    sqlite3_bind_int64(statement, 5, numbers.code)
    sqlite3_bind_double(statement, 6, numbers.createdAt)
    sqlite3_bind_int64(statement, 7, numbers.isActive ? 1 : 0)
    if numbers.hasNote {
      coredata_bind_text_borrowing(statement, 8, text + StopGenerator.note.lowerBound, 21)
    } else {
      sqlite3_bind_null(statement, 8)
    }
    sqlite3_bind_int64(statement, 9, Int64(numbers.route))
  }
}
