import CoreDataCSQLite

/// Updates and deletions on SQLite's C API: each row is read first, then changed, all in one transaction.
struct FloorChanging {
  let database: Database

  func update(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Check {
    try watch.time {
      let find = try database.prepare("SELECT \(FloorStop.columns) FROM stop WHERE id = ?")
      let update = try database.prepare("UPDATE stop SET name = ?, code = ? WHERE id = ?")
      defer {
        sqlite3_finalize(find)
        sqlite3_finalize(update)
      }
      let stops = _read(ids, find)
      try database.execute("BEGIN IMMEDIATE")
      try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { name in
        let prefix: StaticString = "upd "
        for stop in stops {
          for k in 0..<4 { name[k] = CChar(prefix.utf8Start[k]) }
          for k in 0..<Int(stop.nameCount) { name[4 + k] = CChar(bitPattern: stop.name[k]) }
          coredata_bind_text_borrowing(update, 1, name.baseAddress, stop.nameCount + 4)
          sqlite3_bind_int64(update, 2, stop.code + 1)
          sqlite3_bind_int64(update, 3, stop.id)
          try database.run(update)
        }
      }
      try database.execute("COMMIT")
      for stop in stops { stop.free() }
    }
    return Check(rows: ids.count, sum: try database.number(FloorStore.sumQuery))
  }

  func delete(_ ids: ArraySlice<Int64>, _ watch: Stopwatch) throws -> Check {
    try watch.time {
      let find = try database.prepare("SELECT \(FloorStop.columns) FROM stop WHERE id = ?")
      let delete = try database.prepare("DELETE FROM stop WHERE id = ?")
      defer {
        sqlite3_finalize(find)
        sqlite3_finalize(delete)
      }
      let stops = _read(ids, find)
      try database.execute("BEGIN IMMEDIATE")
      for stop in stops {
        sqlite3_bind_int64(delete, 1, stop.id)
        try database.run(delete)
      }
      try database.execute("COMMIT")
      for stop in stops { stop.free() }
    }
    return Check(rows: ids.count, sum: try database.number(FloorStore.sumQuery))
  }

  private func _read(_ ids: ArraySlice<Int64>, _ find: OpaquePointer) -> [FloorStop] {
    var stops: [FloorStop] = []
    for id in ids {
      sqlite3_bind_int64(find, 1, id)
      if sqlite3_step(find) == SQLITE_ROW { stops.append(FloorStop(find)) }
      sqlite3_reset(find)
    }
    return stops
  }
}
