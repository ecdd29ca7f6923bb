import CoreDataCSQLite
import Foundation

/// Inserts stops on SQLite's C API with a history: one row for each transaction, and one for each stop in it.
struct FloorBatchInsert {
  let database: Database
  let count: Int

  /// The history's tables and indexes, as wide as those of the engine's file.
  static func createHistory(in database: Database, as file: FloorFile) throws {
    let bookkeeping = file == .plain ? "" : ", ent INTEGER DEFAULT 16001, opt INTEGER"
    try database.execute(
      """
      CREATE TABLE change(id INTEGER PRIMARY KEY, kind INTEGER, entity INTEGER, object INTEGER,
        transactionId INTEGER, columns BLOB\(bookkeeping));
      CREATE TABLE transactions(id INTEGER PRIMARY KEY, author INTEGER, bundle INTEGER, context INTEGER,
        process INTEGER, timestamp REAL);
      CREATE INDEX change_transaction ON change(transactionId);
      CREATE INDEX transactions_timestamp ON transactions(timestamp);
      """)
  }

  static let historyQuery = "SELECT SUM(object) + COUNT(*) FROM change WHERE kind = 0"

  func run(_ watch: Stopwatch) throws {
    var generator = StopGenerator(seed: 42)
    let size = min(count, EngineBatchInsert.size)
    let texts = UnsafeMutablePointer<UInt8>.allocate(capacity: size * StopGenerator.stride)
    let numbers = UnsafeMutablePointer<StopNumbers>.allocate(capacity: size)
    defer {
      texts.deallocate()
      numbers.deallocate()
    }
    var done = 0
    while done < count {
      let size = min(size, count - done)
      for index in 0..<size {
        (numbers + index).initialize(to: generator.next(into: texts + index * StopGenerator.stride))
      }
      try watch.time { try _insert(size, texts, numbers) }
      done += size
    }
  }

  private func _insert(
    _ size: Int, _ texts: UnsafeMutablePointer<UInt8>, _ numbers: UnsafeMutablePointer<StopNumbers>
  ) throws {
    let insert = try database.prepare(
      """
      INSERT INTO stop(identifier, name, latitude, longitude, code, createdAt, active, note)
      VALUES(?, ?, ?, ?, ?, ?, ?, ?)
      """)
    let begin = try database.prepare(
      "INSERT INTO transactions(author, bundle, context, process, timestamp) VALUES(NULL, 1, NULL, 1, ?)")
    // One statement for all, which costs a third less than one for each.
    let record = try database.prepare(
      "INSERT INTO change(kind, entity, object, transactionId) SELECT 0, 2, id, ? FROM stop WHERE id > ?")
    defer { for statement in [insert, begin, record] { sqlite3_finalize(statement) } }
    try database.execute("BEGIN IMMEDIATE")
    sqlite3_bind_double(begin, 1, Date().timeIntervalSince1970)
    try database.run(begin)
    sqlite3_bind_int64(record, 1, sqlite3_last_insert_rowid(database.handle))
    sqlite3_bind_int64(record, 2, try database.number("SELECT IFNULL(MAX(id), 0) FROM stop"))
    for index in 0..<size {
      let text = UnsafeRawPointer(texts + index * StopGenerator.stride).assumingMemoryBound(to: CChar.self)
      FloorColumn.bindAttributes(text, numbers[index], to: insert)
      try database.run(insert)
    }
    try database.run(record)
    try database.execute("COMMIT")
  }
}
