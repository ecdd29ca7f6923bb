import CoreDataCSQLite

extension Database {
  /// Digest of a query's rows, written as the sqlite3 shell writes them.
  func digest(_ sql: String) throws -> (rows: Int, digest: String) {
    let statement = try prepare(sql)
    defer { sqlite3_finalize(statement) }
    var digest = MD5()
    var rows = 0
    let columns = sqlite3_column_count(statement)
    while sqlite3_step(statement) == SQLITE_ROW {
      rows += 1
      for column in 0..<columns {
        if let text = sqlite3_column_text(statement, column) {
          digest.update(
            UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
        }
        let end: StaticString = column == columns - 1 ? "\n" : "|"
        digest.update(UnsafeRawBufferPointer(start: end.utf8Start, count: 1))
      }
    }
    return (rows, digest.finish())
  }
}
