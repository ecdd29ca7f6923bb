import CoreDataPostgreSQLBinding

/// Prevents other programs from creating, migrating or upgrading a store until the caller's transaction ends.
enum PostgreSQLStoreLock {
  /// - Throws: `PostgreSQLError`, with `isBusy` if the lock is not granted within the transaction's
  ///   `lock_timeout`.
  static func acquire(_ schema: String, on connection: PostgreSQLConnection) throws {
    var parameters = PostgreSQLParameters()
    parameters.add("coredata:" + schema)
    try connection.execute("SAVEPOINT store_lock")
    do {
      try connection.run(
        "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::text, 0))", parameters,
        isRepeated: false)
      try connection.execute("RELEASE SAVEPOINT store_lock")
    } catch let error as PostgreSQLError where error.isDenied || error.isMissing {
      // Without advisory locks, the store's metadata row serves as the lock. Of programs that create the
      // store at once, all but one fail, and find the store when they retry.
      try connection.execute("ROLLBACK TO SAVEPOINT store_lock")
      var table = PostgreSQLParameters()
      table.add(PostgreSQLMetadata.table(schema))
      let found = try connection.run(
        "SELECT pg_catalog.to_regclass($1::text) IS NOT NULL", table, isRepeated: false)
      guard found.int64(0, 0) != 0 else { return }
      try connection.execute("LOCK TABLE \(PostgreSQLMetadata.table(schema)) IN EXCLUSIVE MODE")
    }
  }
}
