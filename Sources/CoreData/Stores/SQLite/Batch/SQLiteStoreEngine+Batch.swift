import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Batch requests.
extension SQLiteStoreEngine: BatchCapable {
  func insert(_ plan: BatchInsertPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome {
    var next = plan.next
    if isInMemory {
      // Reader and writer share a connection here. Creating the rows may read, so it comes first.
      var rows: [Row] = []
      while let row = try plan.next() { rows.append(row) }
      var index = 0
      next = {
        guard index < rows.count else { return nil }
        defer { index += 1 }
        return rows[index]
      }
    }
    return try _batch(by: origin) { connection, entry in
      let insertion = BatchInsertion(
        plan, engine: self, connection: connection, entry: entry, needsKeys: needsKeys)
      do {
        try insertion.run(next)
      } catch {
        context.externalData.remove(insertion.writtenFiles)
        throw error
      }
      return (insertion.outcome, insertion.replacedFiles)
    }
  }

  func update(_ plan: BatchUpdatePlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome {
    try _batch(by: origin) { connection, entry in
      try BatchUpdate(plan, engine: self, connection: connection, entry: entry).run(needsKeys: needsKeys)
    }
  }

  func delete(_ plan: FetchPlan, needsKeys: Bool, by origin: ChangeOrigin) throws -> BatchOutcome {
    try _batch(by: origin) { connection, entry in
      let deletion = BatchDeletion(plan, engine: self, connection: connection, entry: entry)
      return (try deletion.run(needsKeys: needsKeys), deletion.files)
    }
  }

  /// Runs one batch as one transaction of both the database and the history.
  ///
  /// - Parameter body: Returns its outcome, and the external data files that are no longer referenced.
  private func _batch(
    by origin: ChangeOrigin, _ body: (Connection, HistoryEntry?) throws -> (BatchOutcome, [String])
  ) throws -> BatchOutcome {
    guard !options.isReadOnly else { throw SQLiteStoreError.readOnly(path: path) }
    return try SQLiteStoreError.translating {
      try pool.write { connection in
        _ = derivedReports.drain()
        // Triggers report each row; a batch ignores the reports.
        defer { _ = derivedReports.drain() }
        let (outcome, files) = try connection.transaction {
          let entry = history.map { HistoryEntry($0, on: connection, by: origin) }
          var (outcome, files) = try body(connection, entry)
          try entry?.finish()
          outcome.transaction = entry?.number
          return (outcome, files)
        }
        discard(files)
        didCommit()
        return outcome
      }
    }
  }

  /// Returns the names of an entity's uniqueness constraints, for messages.
  func constraintNames(of layout: PropertyLayout) -> [[String]] {
    layout.uniquenessConstraints.map { $0.map { layout.slots[$0].name } }
  }
}
