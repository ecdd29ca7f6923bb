import CoreData
import CoreDataPostgreSQLBinding

// Detects whether objects have changed since an earlier time, in other processes too.

extension PostgreSQLStoreEngine {
  /// Combines each table's row count and the sum of a hash over keys and versions, so that every insertion,
  /// update and deletion changes it. Scans the tables.
  func mark(of entityNumbers: some Collection<Int>) throws -> String? {
    let roots = Set(entityNumbers.map { mapping.layout.layout(numbered: $0).rootNumber }).sorted()
    guard !roots.isEmpty else { return "" }
    // A single statement sees a single snapshot.
    let parts = roots.map { root in
      "SELECT \(root) AS n, pg_catalog.count(*)::text || ' ' || coalesce(pg_catalog.sum(pg_catalog.hashint8extended(\"id\", \"version\")), 0)::text AS mark "
        + "FROM \(mapping.table(of: root).name)"
    }
    return try reading("the state of some tables") { connection in
      let found = try connection.run(
        "SELECT mark FROM (\(parts.joined(separator: " UNION ALL "))) AS m ORDER BY n")
      return (0..<found.rowCount).map { "\(roots[$0]) \(found.string($0, 0))" }.joined(separator: ";")
    }
  }
}
