import Foundation

/// A value bound to a `?` of a statement. Not in Core Data.
public enum SQLBinding: Sendable, Hashable, CustomStringConvertible {
  /// NULL.
  case null
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// Text.
  case text(String)
  /// Bytes.
  case blob(Data)
  /// Multiple values bound to one `?`: a collection in the predicate.
  case values([SQLBinding])

  /// The value as an SQL literal.
  public var description: String {
    switch self {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .text(let text): "'\(text.replacingOccurrences(of: "'", with: "''"))'"
    case .blob(let data): "x'\(data.map { String(format: "%02x", $0) }.joined())'"
    case .values(let members): "(\(members.map(\.description).joined(separator: ", ")))"
    }
  }
}

/// The SQL of a fetch request for one store. Not in Core Data.
///
/// ```swift
/// let request = Book.fetchRequest()
/// request.predicate = NSPredicate(format: "pages > 300")
/// for statement in try context.sqlStatements(for: request) {
///   print(statement)
///   if statement.queryPlan.contains(where: { $0.contains("SCAN") }) { print("reads the whole table") }
/// }
/// ```
public struct SQLStatement: Sendable, CustomStringConvertible {
  /// UUID of the store.
  public let storeIdentifier: String
  /// The statement, with `?` for values.
  public let sql: String
  /// The value of each `?`, from left to right. Contains data of the predicate: do not log it by default.
  public let bindings: [SQLBinding]
  /// Keys by which rows are sorted in memory after reading, such as `name` and `age descending`; empty if the
  /// statement sorts.
  ///
  /// A fetch of all matches sorted by the entity's own attributes is sorted in memory, at a tenth of the cost
  /// of sorting in SQLite.
  public let memoryOrder: [String]
  /// Number of rows that the statement returns now; nil unless counting was requested.
  public let rowCount: Int?
  /// SQLite's EXPLAIN QUERY PLAN, one step per line, nested steps indented by two spaces per level.
  ///
  /// For a large table look for `SEARCH … USING INDEX`; `SCAN` reads the whole table.
  public let queryPlan: [String]

  /// The statement with its plan, without values.
  public var description: String {
    let order = memoryOrder.isEmpty ? [] : ["sorted in memory by \(memoryOrder.joined(separator: ", "))"]
    return ([sql] + order + (rowCount.map { ["\($0) rows"] } ?? []) + queryPlan.map { "  " + $0 }).joined(
      separator: "\n")
  }
}

/// A store that can show the SQL it runs.
protocol SQLExplaining: StoreEngine {
  /// Returns the statement that a fetch would run.
  func statement(for plan: FetchPlan, _ purpose: QueryShape.Purpose, countingRows: Bool) throws
    -> SQLStatement

  /// Returns the statement that a dictionary fetch would run.
  func statement(for plan: DictionaryPlan, countingRows: Bool) throws -> SQLStatement
}
