import CoreData
import CoreDataModelSchema
import CoreDataPostgreSQLBinding

/// Batch requests.
extension PostgreSQLStoreEngine: BatchCapable {
  func insert(_ plan: BatchInsertPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome {
    // The caller's rows can be read only once: after the first one, the insertion cannot be retried.
    var hasRows = false
    let rows = BatchInsertPlan(layout: plan.layout, collision: plan.collision) {
      hasRows = true
      return try plan.next()
    }
    return try _batch("a batch insertion", by: origin, after: { !hasRows && Self.isPassing($0) }) {
      connection, entry in
      let insertion = PostgreSQLBatchInsertion(
        rows, engine: self, connection: connection, entry: entry, needsKeys: needsKeys)
      try insertion.run()
      return insertion.outcome
    }
  }

  func update(_ plan: BatchUpdatePlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome {
    try _batch("a batch update", by: origin) { connection, entry in
      try PostgreSQLBatchUpdate(plan, engine: self, connection: connection, entry: entry).run(
        needsKeys: needsKeys)
    }
  }

  func delete(_ plan: FetchPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome {
    try _batch("a batch deletion", by: origin) { connection, entry in
      try PostgreSQLBatchDeletion(plan, engine: self, connection: connection, entry: entry).run(
        needsKeys: needsKeys)
    }
  }

  /// Runs one batch as one transaction of the database and of the history.
  private func _batch(
    _ use: String, by origin: ChangeOrigin,
    after passes: (PostgreSQLError) -> Bool = PostgreSQLStoreEngine.isPassing,
    _ body: (PostgreSQLConnection, PostgreSQLHistoryEntry?) throws -> BatchOutcome
  ) throws -> BatchOutcome {
    guard !isReadOnly else { throw PostgreSQLStoreError.readOnly(schema: address.schema) }
    return try repeating(use, after: passes) { connection in
      try committing(on: connection) {
        // Detects a lost connection before an insertion consumes its first row.
        try connection.runPending()
        let entry = keepsHistory ? PostgreSQLHistoryEntry(self, on: connection, by: origin) : nil
        var outcome = try body(connection, entry)
        outcome.transaction = try entry?.finish()
        return outcome
      }
    }
  }

  /// Runs a fetch of identities on the given connection.
  func keys(_ plan: FetchPlan, on connection: PostgreSQLConnection) throws -> [ObjectKey] {
    var rows = plan
    rows.content = .identity
    let (query, parameters) = try compiled(rows, .objects)
    return try query.reader!.identities(connection.run(query.sql, parameters)).map(\.key)
  }

  /// Returns the error for a batch that violates a uniqueness constraint.
  func batchError(_ layout: PropertyLayout, _ error: PostgreSQLError) -> any Error {
    BatchConstraintError(
      entity: layout.entityName,
      constraints: layout.uniquenessConstraints.map { $0.map { layout.slots[$0].name } }, reason: "\(error)")
  }
}
