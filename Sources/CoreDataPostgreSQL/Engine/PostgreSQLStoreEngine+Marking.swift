import CoreData
import CoreDataPostgreSQLBinding

// Telling whether objects have changed since some other time, in another process perhaps.

extension PostgreSQLStoreEngine {
  /// For each table the number of rows and the sum of a hash over keys and versions: every insertion, update and deletion
  /// changes it. Costs a scan of the tables.
  func mark(of entityNumbers: some Collection<Int>) throws -> String? {
    let roots = Set(entityNumbers.map { mapping.layout.layout(numbered: $0).rootNumber }).sorted()
    guard !roots.isEmpty else { return "" }
    // One statement sees one state.
    let parts = roots.map { root in
      "SELECT \(root) AS n, count(*)::text || ' ' || coalesce(sum(hashint8extended(\"id\", \"version\")), 0)::text AS mark "
        + "FROM \(mapping.table(of: root).name)"
    }
    return try reading("the state of some tables") { connection in
      let found = try connection.run(
        "SELECT mark FROM (\(parts.joined(separator: " UNION ALL "))) AS m ORDER BY n")
      return (0..<found.rowCount).map { "\(roots[$0]) \(found.string($0, 0))" }.joined(separator: ";")
    }
  }
}
