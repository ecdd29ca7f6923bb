import CoreDataCSQLite

/// Imports on SQLite's C API: statements prepared once, one transaction a batch. Of a stop that is stored already only
/// what differs is written, so that SQLite leaves the indexes of the other columns alone.
struct FloorImport {
  let database: Database
  let count: Int
  let batch: Int
  let finds: Bool
  var seed: UInt64 = 42
  var shift: Double = 0
  /// Whether making the records counts, as in the work with a reader beside it.
  var timesGenerator = false
  /// Answers true when the import is to end before its time.
  var isOver: () -> Bool = { false }

  /// Answers how many stops were imported.
  @discardableResult func run(_ watch: Stopwatch) throws -> Int {
    var generator = StopGenerator(seed: seed, shift: shift)
    let texts = UnsafeMutablePointer<UInt8>.allocate(capacity: batch * StopGenerator.stride)
    let numbers = UnsafeMutablePointer<StopNumbers>.allocate(capacity: batch)
    defer {
      texts.deallocate()
      numbers.deallocate()
    }
    watch.resume()
    let find = try database.prepare("SELECT \(FloorStop.columns) FROM stop WHERE identifier = ?")
    let insert = try database.prepare(
      """
      INSERT INTO stop(identifier, name, latitude, longitude, code, createdAt, active, note, routeId)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    let begin = try database.prepare("BEGIN IMMEDIATE")
    let commit = try database.prepare("COMMIT")
    defer { for statement in [find, insert, begin, commit] { sqlite3_finalize(statement) } }
    var updates = FloorUpdates(database)
    var done = 0
    while done < count, !isOver() {
      let size = min(batch, count - done)
      if !timesGenerator { watch.pause() }
      for index in 0..<size {
        (numbers + index).initialize(to: generator.next(into: texts + index * StopGenerator.stride))
      }
      if !timesGenerator { watch.resume() }
      try database.run(begin)
      for index in 0..<size {
        let text = UnsafeRawPointer(texts + index * StopGenerator.stride).assumingMemoryBound(to: CChar.self)
        if finds {
          coredata_bind_text_borrowing(find, 1, text + StopGenerator.identifier.lowerBound, 17)
          let isStored = sqlite3_step(find) == SQLITE_ROW
          if isStored { updates.compare(find, text, numbers[index]) }
          sqlite3_reset(find)
          if isStored {
            try updates.write(text, numbers[index])
            continue
          }
        }
        FloorColumn.bindAll(text, numbers[index], to: insert)
        try database.run(insert)
      }
      try database.run(commit)
      done += size
    }
    watch.pause()
    return done
  }
}
