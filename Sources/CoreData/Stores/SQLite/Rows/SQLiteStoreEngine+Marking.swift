import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Telling whether objects have changed since some other time, in another process perhaps.
extension SQLiteStoreEngine {
  /// A text that differs whenever an object of these entities was inserted, updated or deleted in between, by
  /// any writer that keeps Core Data's versions.
  ///
  /// For each table: number of rows, sum of versions, and the last key given out. A deletion lowers the
  /// number, an insertion raises the last key, and where neither has happened each update raises the sum.
  /// Costs a scan of the tables.
  ///
  /// - Throws: `SQLiteStoreError`.
  func mark(of entityNumbers: some Collection<Int>) throws -> String? {
    let roots = Set(entityNumbers.map { mapping.layout.layout(numbered: $0).rootNumber }).sorted()
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        // One statement sees one state of the file.
        let parts = roots.map { root in
          let table = mapping.table(of: root).name
          return "SELECT '\(root) ' || COUNT(*) || ' ' || IFNULL(SUM(Z_OPT), 0) || ' ' || "
            + "IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(root)), 0) FROM \(table)"
        }
        var lines: [String] = []
        guard !parts.isEmpty else { return "" }
        try connection.query(parts.joined(separator: " UNION ALL ")) { lines.append($0.string(0)) }
        return lines.joined(separator: ";")
      }
    }
  }
}
