import Foundation

/// A value bound to a `?` of a statement. Not in Core Data.
public enum SQLBinding: Sendable, Hashable, CustomStringConvertible {
  /// NULL.
  case null
  /// A whole number.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// Text.
  case text(String)
  /// Bytes.
  case blob(Data)
  /// Many values behind one `?`: a collection in the predicate.
  case values([SQLBinding])

  /// The value as SQL spells it.
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

/// The SQL that a fetch request stands for in one store. Not in Core Data.
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
  /// The statement, values as `?`.
  public let sql: String
  /// What stands for each `?`, from left to right. Holds data of the predicate: don't log it unasked.
  public let bindings: [SQLBinding]
  /// Keys that the rows are sorted by in memory once they are read, such as `name` and `age descending`;
  /// empty where the statement sorts them itself.
  ///
  /// A fetch of all matches, ordered by attributes of their own, is: that costs a tenth of what SQLite takes
  /// for it.
  public let memoryOrder: [String]
  /// Rows that the statement gives now; nil unless they were to be counted.
  public let rowCount: Int?
  /// SQLite's EXPLAIN QUERY PLAN, one step a line, those inside others indented by two spaces a level.
  ///
  /// `SEARCH … USING INDEX` is what a large table wants; `SCAN` reads all of it.
  public let queryPlan: [String]

  /// The statement with its plan, without values.
  public var description: String {
    let order = memoryOrder.isEmpty ? [] : ["sorted in memory by \(memoryOrder.joined(separator: ", "))"]
    return ([sql] + order + (rowCount.map { ["\($0) rows"] } ?? []) + queryPlan.map { "  " + $0 }).joined(
      separator: "\n")
  }
}

/// A store that runs SQL, and shows it.
protocol SQLExplaining: StoreEngine {
  /// What a fetch would run.
  func statement(for plan: FetchPlan, _ purpose: QueryShape.Purpose, countingRows: Bool) throws
    -> SQLStatement

  /// What a dictionary fetch would run.
  func statement(for plan: DictionaryPlan, countingRows: Bool) throws -> SQLStatement
}
