import CoreDataCPostgreSQL

/// Two queries for one number each: what a connection sends before and after each statement, without a round trip more.
package struct PostgreSQLCompanions: Sendable {
  package let before: String?
  package let after: String?
  /// The number that the query before the last statement has answered; nil when it has answered none.
  package fileprivate(set) var numberBefore: Int64?
  /// The number that the query after the last statement has answered; nil when it has answered none.
  package fileprivate(set) var numberAfter: Int64?
  /// Asked with the number before, once a statement has succeeded; throws to have the statement fail.
  package let check: (@Sendable (Int64?) throws -> Void)?

  package init(
    before: String? = nil, after: String? = nil, check: (@Sendable (Int64?) throws -> Void)? = nil
  ) {
    self.before = before
    self.after = after
    self.check = check
  }
}

/// A statement that is sent with the next one.
struct PendingStatement {
  let sql: String
  let parameters: PostgreSQLParameters
  /// Name that it is prepared under; nil when it is not.
  let name: String?
}

extension PostgreSQLConnection {
  func send(_ statement: PendingStatement) -> Int32 {
    statement.parameters.withArrays { count, types, values, lengths, formats in
      statement.name.map { PQsendQueryPrepared(handle, $0, count, values, lengths, formats, 1) }
        ?? PQsendQueryParams(handle, statement.sql, count, types, values, lengths, formats, 1)
    }
  }

  /// Runs what is pending.
  ///
  /// - Throws: `PostgreSQLError`.
  package func runPending() throws {
    guard let last = pending.popLast() else { return }
    noteStatement()
    _ = try checked(accompanied { send(last) }, last.sql)
  }

  /// Runs what `send` sends, after what is pending, and with the companions before and after it.
  ///
  /// - Returns: The result of what `send` sends; nil when the connection is lost.
  /// - Throws: `PostgreSQLError` of a pending statement, or what the companions' check throws.
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
    // What is not sent has no result; the connection is lost then.
    let count = isSent ? first.count + (before == nil ? 0 : 1) + 1 + (after == nil ? 0 : 1) : 0
    for _ in 0..<count { results.append(result(ofSending: 1)) }
    // The answer to the end of the pipeline.
    while isSent, isUsable, let rest = PQgetResult(handle) {
      let isEnd = PQresultStatus(rest) == PGRES_PIPELINE_SYNC
      PQclear(rest)
      if isEnd { break }
    }
    PQexitPipelineMode(handle)
    guard isSent else { return nil }
    var left = results[...]
    defer { for case let rest? in left { PQclear(rest) } }
    for statement in first { _ = try checked(left.removeFirst(), statement.sql) }
    companions?.numberBefore = before == nil ? nil : Self._number(left.removeFirst())
    let main = left.removeFirst()
    companions?.numberAfter = after == nil ? nil : Self._number(left.removeFirst())
    if let companions, let main, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(main)) {
      do {
        try companions.check?(companions.numberBefore)
      } catch {
        PQclear(main)
        throw error
      }
    }
    return main
  }

  /// The only number of a result, which ends.
  private static func _number(_ result: OpaquePointer?) -> Int64? {
    guard let result else { return nil }
    guard PQresultStatus(result) == PGRES_TUPLES_OK else {
      PQclear(result)
      return nil
    }
    let rows = PostgreSQLResult(result)
    return rows.rowCount == 1 && !rows.isNull(0, 0) ? rows.int64(0, 0) : nil
  }
}
