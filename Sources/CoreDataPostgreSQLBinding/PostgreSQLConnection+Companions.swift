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

extension PostgreSQLConnection {
  /// Runs what `send` sends, with the companions before and after it.
  ///
  /// - Returns: The result of what `send` sends; nil when the connection is lost.
  func accompanied(_ send: () -> Int32) throws -> OpaquePointer? {
    guard var companions, PQenterPipelineMode(handle) == 1 else { return result(ofSending: send()) }
    (companions.numberBefore, companions.numberAfter) = (nil, nil)
    func ask(_ sql: String?) -> Int32 {
      sql.map { PQsendQueryParams(handle, $0, 0, nil, nil, nil, nil, 1) } ?? 1
    }
    let isSent =
      ask(companions.before) == 1 && send() == 1 && ask(companions.after) == 1 && PQpipelineSync(handle) == 1
    let before = companions.before == nil || !isSent ? nil : result(ofSending: 1)
    let main = isSent ? result(ofSending: 1) : nil
    let after = companions.after == nil || !isSent ? nil : result(ofSending: 1)
    // The answer to the end of the pipeline.
    while isSent, isUsable, let rest = PQgetResult(handle) {
      let isEnd = PQresultStatus(rest) == PGRES_PIPELINE_SYNC
      PQclear(rest)
      if isEnd { break }
    }
    PQexitPipelineMode(handle)
    companions.numberBefore = Self._number(before)
    companions.numberAfter = Self._number(after)
    self.companions = companions
    if let main, [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(main)) {
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
