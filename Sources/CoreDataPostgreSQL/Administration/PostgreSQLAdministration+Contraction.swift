import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

// The end of earlier versions of a store's model.

extension PostgreSQLAdministration {
  /// What a contraction of a store would end.
  package struct Contraction {
    /// What would be dropped, as `Author` and `Book.pages`.
    package let hidden: [String]
    /// The earlier versions whose programs may write now, the newest first.
    package let earlier: [Int64]
    /// Connections of programs with these versions, a line each. Those through a pooler are not known.
    package let connections: [String]
  }

  /// Returns what a contraction would end and drop; nil if the model is not the store's present version.
  ///
  /// - Throws: A Cocoa error.
  package func contraction(to model: NSManagedObjectModel) throws -> Contraction? {
    let frozen = try model.frozen()
    return try connected { connection in
      guard let epochs = try _epochs(of: frozen, connection) else { return nil }
      let found = try connection.run(
        """
        SELECT "epoch" FROM \(PostgreSQLEpochs.models(schema)) WHERE "epoch" >= \(epochs.writesFrom) \
        AND "epoch" < \(epochs.current) ORDER BY 1 DESC
        """, isRepeated: false)
      let sessions = try PostgreSQLPresence.sessions(connection, schema: schema)
      return Contraction(
        hidden: try migrating(connection).hidden(beside: frozen.layout),
        earlier: (0..<found.rowCount).map { found.int64($0, 0) },
        connections: sessions.filter { $0.epoch < epochs.current }.map { session in
          "version \(session.epoch): '\(session.application)', role '\(session.role)', process \(session.process)"
            + (session.address.isEmpty ? "" : ", from \(session.address)")
        })
    }
  }

  /// Ends the earlier versions, and drops what the store has for their programs only. These get an error from their next save
  /// or fetch.
  ///
  /// - Throws: A Cocoa error, also if the model is not the store's present version; nothing is changed then.
  package func contract(to model: NSManagedObjectModel) throws {
    let frozen = try model.frozen()
    try connected { connection in
      guard try _epochs(of: frozen, connection) != nil else {
        throw PostgreSQLStoreError.noStore(schema: schema, reason: "its version of the model is another one")
      }
      try migrating(connection).contract(to: frozen)
    }
  }

  /// Returns the epochs of a store whose present version is this one.
  private func _epochs(
    of frozen: FrozenModel, _ connection: PostgreSQLConnection
  ) throws -> PostgreSQLEpochs? {
    guard try PostgreSQLEpochs.areThere(connection, schema: schema) else { return nil }
    let epochs = try PostgreSQLEpochs(connection, schema: schema)
    let known = try PostgreSQLEpochs.number(
      of: PostgreSQLEpochs.digest(of: frozen), connection, schema: schema)
    return known == epochs.current ? epochs : nil
  }
}
