import CoreDataCSQLite
import Foundation

/// Updates and deletions on SQLite's C API: each row is read first, then changed, all in one transaction, which
/// takes the file's locks once.
struct FloorChanging {
  let database: Database

  /// - Parameter inOne: Whether all are updated in one transaction, or each in its own.
  func update(_ ids: ArraySlice<Int64>, inOne: Bool = true, _ watch: Stopwatch) throws -> Check {
    try watch.time {
      let find = try database.prepare("SELECT \(FloorStop.columns) FROM stop WHERE id = ?")
      let update = try database.prepare("UPDATE stop SET name = ?, code = ? WHERE id = ?")
      defer {
        sqlite3_finalize(find)
        sqlite3_finalize(update)
      }
      if inOne { try database.execute("BEGIN IMMEDIATE") }
      let stops = _read(ids, find)
      try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { name in
        let prefix: StaticString = "upd "
        memcpy(name.baseAddress!, prefix.utf8Start, 4)
        for index in 0..<stops.count {
          let stop = stops[index]
          memcpy(name.baseAddress! + 4, stop.name, Int(stop.nameCount))
          coredata_bind_text_borrowing(update, 1, name.baseAddress, stop.nameCount + 4)
          sqlite3_bind_int64(update, 2, stop.code + 1)
          sqlite3_bind_int64(update, 3, stop.id)
          try database.run(update)
        }
      }
      if inOne { try database.execute("COMMIT") }
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
      try database.execute("BEGIN IMMEDIATE")
      let stops = _read(ids, find)
      for index in 0..<stops.count {
        sqlite3_bind_int64(delete, 1, stops[index].id)
        try database.run(delete)
      }
      try database.execute("COMMIT")
    }
    return Check(rows: ids.count, sum: try database.number(FloorStore.sumQuery))
  }

  private func _read(_ ids: ArraySlice<Int64>, _ find: OpaquePointer) -> FloorStops {
    var stops = FloorStops(capacity: ids.count)
    for id in ids {
      sqlite3_bind_int64(find, 1, id)
      if sqlite3_step(find) == SQLITE_ROW { stops.append(find) }
      sqlite3_reset(find)
    }
    return stops
  }
}
