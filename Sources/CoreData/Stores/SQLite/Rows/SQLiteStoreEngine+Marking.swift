import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Detects whether objects have changed since an earlier time, perhaps in another process.
extension SQLiteStoreEngine {
  /// Returns a text that changes whenever an object of these entities is inserted, updated or deleted by any
  /// writer that maintains Core Data's versions.
  ///
  /// For each table: number of rows, sum of versions, and last key assigned. A deletion lowers the number, an
  /// insertion raises the last key, and otherwise each update raises the sum. Costs a scan of the tables.
  ///
  /// - Throws: `SQLiteStoreError`.
  func mark(of entityNumbers: some Collection<Int>) throws -> String? {
    let roots = Set(entityNumbers.map { mapping.layout.layout(numbered: $0).rootNumber }).sorted()
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        // A single statement sees a consistent state of the file.
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
