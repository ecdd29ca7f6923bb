import CoreDataCPostgreSQL

/// Two queries for one number each, which a connection sends before and after each statement in the same
/// round trip.
package struct PostgreSQLCompanions: Sendable {
  package let before: String?
  package let after: String?
  /// The result of the query before the last statement; nil if it had none.
  package fileprivate(set) var numberBefore: Int64?
  /// The result of the query after the last statement; nil if it had none.
  package fileprivate(set) var numberAfter: Int64?
  /// Whether they accompany one statement only.
  package let once: Bool
  /// Called with the numbers before and after, once a statement has succeeded; throws to fail the statement.
  package let check: (@Sendable (Int64?, Int64?) throws -> Void)?

  package init(
    before: String? = nil, after: String? = nil, once: Bool = false,
    check: (@Sendable (Int64?, Int64?) throws -> Void)? = nil
  ) {
    self.before = before
    self.after = after
    self.once = once
    self.check = check
  }
}

/// A statement that is sent along with the next one.
struct PendingStatement {
  let sql: String
  let parameters: PostgreSQLParameters
  /// Name for preparing it; nil for an unprepared statement.
  let name: String?
  /// Whether the listener is told of it.
  var isObserved = false
}

extension PostgreSQLConnection {
  func send(_ statement: PendingStatement) -> Int32 {
    statement.parameters.withArrays { count, types, values, lengths, formats in
      statement.name.map { PQsendQueryPrepared(handle, $0, count, values, lengths, formats, 1) }
        ?? PQsendQueryParams(handle, statement.sql, count, types, values, lengths, formats, 1)
    }
  }

  /// Runs pending statements.
  ///
  /// - Throws: `PostgreSQLError`.
  package func runPending() throws {
    guard let last = pending.popLast() else { return }
    noteStatement()
    _ = try heard(last.sql) { try checked(accompanied { send(last) }, last.sql) }
  }

  /// Sends pending statements, then the statement that `send` sends, between its companions.
  ///
  /// - Returns: The result of that statement; nil if the connection is lost.
  /// - Throws: `PostgreSQLError` of a pending statement, or errors of the companions' check.
  func accompanied(_ send: () -> Int32) throws -> OpaquePointer? {
    let first = pending
    pending = []
    guard companions != nil || !first.isEmpty else { return result(ofSending: send()) }
    guard PQenterPipelineMode(handle) == 1 else {
      throw PostgreSQLError(state: nil, message: "the connection is of no use any more")
    }
    let (before, after) = (companions?.before, companions?.after)
    func ask(_ sql: String?) -> Bool {
      sql.map { PQsendQueryParams(handle, $0, 0, nil, nil, nil, nil, 1) == 1 } ?? true
    }
    let isSent =
      first.allSatisfy { self.send($0) == 1 } && ask(before) && send() == 1 && ask(after)
      && PQpipelineSync(handle) == 1
    var results: [OpaquePointer?] = []
    // Without sending there are no results; the connection is then lost.
    let count = isSent ? first.count + (before == nil ? 0 : 1) + 1 + (after == nil ? 0 : 1) : 0
    for _ in 0..<count { results.append(result(ofSending: 1)) }
    // The result for the end of the pipeline.
    while isSent, isUsable {
      awaitResult()
      guard let rest = PQgetResult(handle) else { break }
      let isEnd = PQresultStatus(rest) == PGRES_PIPELINE_SYNC
      PQclear(rest)
      if isEnd { break }
    }
    PQexitPipelineMode(handle)
    guard isSent else { return nil }
    var left = results[...]
    defer { for case let rest? in left { PQclear(rest) } }
    for statement in first {
      let result = left.removeFirst()
      _ =
        try statement.isObserved
        ? heard(statement.sql) { try checked(result, statement.sql) } : checked(result, statement.sql)
    }
    companions?.numberBefore = before == nil ? nil : Self._number(left.removeFirst())
    let main = left.removeFirst()
    companions?.numberAfter = after == nil ? nil : Self._number(left.removeFirst())
    let asked = companions
    if asked?.once ?? false { companions = nil }
    if let asked, let main, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(main)) {
      do {
        try asked.check?(asked.numberBefore, asked.numberAfter)
      } catch {
        PQclear(main)
        throw error
      }
    }
    return main
  }

  /// Returns the only number of a result, and frees the result.
  private static func _number(_ result: OpaquePointer?) -> Int64? {
    guard let result else { return nil }
    guard PQresultStatus(result) == PGRES_TUPLES_OK else {
      PQclear(result)
      return nil
    }
    let rows = PostgreSQLResult(result, timeline: 0)
    return rows.rowCount == 1 && !rows.isNull(0, 0) ? rows.int64(0, 0) : nil
  }
}
