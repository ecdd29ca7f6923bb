import CoreDataModelSchema
import CoreDataSQLiteBinding

/// Saves and key reservation.
extension SQLiteStoreEngine {
  package var deletesRows: Bool { true }

  /// Writes everything or nothing, in one transaction. Inserted objects without a permanent ID get one, and
  /// temporary IDs are linked before the commit.
  ///
  /// - Throws: `StoreConflictError`, `StoreConstraintError`, `SQLiteStoreError`.
  func commit(_ changes: ChangeSet) throws { _ = try save(changes) }

  /// Commits, together with saves into other stores. Returns the rows whose derived values have changed, and
  /// the transaction number in history.
  func save(_ changes: ChangeSet, along others: () throws -> Void) throws -> SaveOutcome {
    guard !options.isReadOnly else { throw SQLiteStoreError.readOnly(path: path) }
    if changes.isEmpty {
      try others()
      return SaveOutcome()
    }
    return try SQLiteStoreError.translating {
      try pool.write { connection in
        let outcome: SaveOutcome
        do {
          outcome = try _commit(changes, on: connection, isCareful: false, along: others)
        } catch  where error is OutdatedDeletion || (error as? SQLiteError)?.isUniqueViolation == true {
          // Rare, so a second attempt is affordable: it lets rows exchange values, and finds the conflicting
          // objects.
          outcome = try _commit(changes, on: connection, isCareful: true, along: others)
        }
        didCommit()
        return outcome
      }
    }
  }

  private func _commit(
    _ changes: ChangeSet, on connection: Connection, isCareful: Bool, along others: () throws -> Void
  ) throws -> SaveOutcome {
    _ = derivedReports.drain()
    let transaction = SaveTransaction(changes, engine: self, connection: connection, isCareful: isCareful)
    do {
      let outcome = try connection.transaction {
        let entry = history.map { HistoryEntry($0, on: connection, by: changes.origin) }
        try transaction.keepTombstones(in: entry)
        try transaction.run(recordingIn: entry)
        try transaction.recordHistory(in: entry)
        let computed = try computedRows(on: connection)
        let followed = try transaction.followedRules()
        try others()
        transaction.linkIDs()
        Interleaving.reach(.link)
        return SaveOutcome(computed: computed, followed: followed, transaction: entry?.number)
      }
      discard(transaction.replacedFiles)
      return outcome
    } catch {
      context.externalData.remove(transaction.writtenFiles)
      throw error
    }
  }

  /// Reserves the requested number of keys per entity number for new objects, durably against any other
  /// writer of the store.
  func reserveKeys(_ counts: [Int: Int]) throws -> [Int: [Int64]] {
    guard !options.isReadOnly else { throw SQLiteStoreError.readOnly(path: path) }
    var result: [Int: [Int64]] = [:]
    try SQLiteStoreError.translating {
      try pool.write { connection in
        try connection.transaction {
          for (number, count) in counts.sorted(by: { $0.key < $1.key }) where count > 0 {
            let root = mapping.layout.layout(numbered: number).rootNumber
            let first = try allocate(count, ofRoot: root, atLeast: 0, on: connection)
            result[number] = Array(first..<(first + Int64(count)))
          }
        }
      }
    }
    return result
  }

  /// Allocates the next `count` keys of a table, inside the caller's transaction, and returns the first.
  ///
  /// - Parameter minimum: A key assigned before, which counts as used.
  /// - Throws: `SQLiteStoreError.keysExhausted`.
  func allocate(_ count: Int, ofRoot root: Int, atLeast minimum: Int64, on connection: Connection) throws
    -> Int64
  {
    let plan = writePlans.keys(ofRoot: root)
    let stored = Int64(mapping.numbers.stored(for: root))
    let highest = try connection.withStatement(plan.highest) { statement in
      statement.bind(stored, at: 1)
      return try statement.step() ? max(0, statement.int64(0)) : 0
    }
    let (last, overflow) = max(highest, minimum).addingReportingOverflow(Int64(count))
    guard !overflow else { throw SQLiteStoreError.keysExhausted(entity: entityName(root)) }
    try connection.withStatement(plan.store) { statement in
      statement.bind(stored, at: 1)
      statement.bind(last, at: 2)
      try statement.run()
    }
    return last - Int64(count) + 1
  }
}
