import CoreDataPredicateLanguage
import CoreDataSQLiteBinding

/// Shows the statement that a fetch would run.
extension SQLiteStoreEngine: SQLExplaining {
  func statement(
    for plan: FetchPlan, _ purpose: QueryShape.Purpose, countingRows: Bool
  ) throws -> SQLStatement {
    let isSortedInMemory = purpose == .objects && packedOrder(plan) != nil
    let order = isSortedInMemory ? plan.sort.map(\._text) : []
    let plan = isSortedInMemory ? plan.unsorted : plan
    let (query, constants) = try compiled(plan, purpose)
    return try _statement(query.sql, query.parameters, plan, constants, countingRows, memoryOrder: order)
  }

  func statement(for plan: DictionaryPlan, countingRows: Bool) throws -> SQLStatement {
    let (query, constants) = try compiled(plan)
    return try _statement(query.sql, query.parameters, plan.rows, constants, countingRows)
  }

  private func _statement(
    _ sql: SQLText, _ parameters: [QueryParameter], _ plan: FetchPlan, _ constants: [PredicateValue],
    _ countingRows: Bool, memoryOrder: [String] = []
  ) throws -> SQLStatement {
    let binder = QueryBinder(context)
    return try SQLiteStoreError.translating {
      try pool.read { connection in
        var rowCount: Int?
        if countingRows {
          let statement = try connection.prepare("SELECT COUNT(*) FROM (\(sql.text))")
          binder.bind(parameters, plan, constants, to: statement)
          rowCount = try statement.step() ? Int(clamping: statement.int64(0)) : 0
        }
        return SQLStatement(
          storeIdentifier: identifier, sql: sql.text, bindings: binder.bindings(parameters, plan, constants),
          memoryOrder: memoryOrder, rowCount: rowCount,
          queryPlan: try QueryPlan.lines(of: sql.text, on: connection))
      }
    }
  }
}

extension FetchPlan.SortTerm {
  /// The term in words.
  fileprivate var _text: String { keyPath.joined(separator: ".") + (ascending ? "" : " descending") }
}
