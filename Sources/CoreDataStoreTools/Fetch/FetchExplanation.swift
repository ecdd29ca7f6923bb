import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

/// Explains the SQL of a fetch: the statement, its values, and SQLite's plan.
struct FetchExplanation {
  private let _statement: SQLStatement
  private let _explains: Bool
  private let _advice: [String]

  init(_ statement: SQLStatement, _ entity: PropertyLayout, _ reader: StoreReader, explains: Bool) {
    _statement = statement
    _explains = explains
    _advice = explains ? IndexAdvice(statement, entity, reader).sentences : []
  }

  var text: String {
    var text = _statement.sql + "\n"
    if !_statement.bindings.isEmpty {
      text += "Values: \(_statement.bindings.map(\.description).joined(separator: ", "))\n"
    }
    if !_statement.memoryOrder.isEmpty {
      text += "Sorted in memory by \(_statement.memoryOrder.joined(separator: ", ")).\n"
    }
    guard _explains else { return text }
    text += "Plan:\n" + _statement.queryPlan.map { "  \($0)\n" }.joined()
    return text + _advice.map { $0 + "\n" }.joined()
  }

  var json: JSONText {
    var members: [(String, JSONText)] = [
      ("sql", .string(_statement.sql)),
      ("values", .array(_statement.bindings.map { .string($0.description) })),
      ("memoryOrder", .array(_statement.memoryOrder.map(JSONText.string))),
    ]
    if _explains {
      members.append(("plan", .array(_statement.queryPlan.map(JSONText.string))))
      members.append(("advice", .array(_advice.map(JSONText.string))))
    }
    return .object(members)
  }
}

/// Suggests an index that saves a statement from reading a whole table.
package struct IndexAdvice {
  /// Complete sentences; empty if no index could improve the plan.
  package let sentences: [String]

  package init(_ statement: SQLStatement, _ entity: PropertyLayout, _ reader: StoreReader) {
    let table = reader.anatomy.table(of: entity.entityNumber)
    let isScanned = statement.queryPlan.contains {
      $0.contains("SCAN t0") && !$0.contains(" USING ")
    }
    let isSorted = statement.queryPlan.contains { $0.contains("USE TEMP B-TREE FOR ORDER BY") }
    let names = Dictionary(
      table.attributes.map { ($0.column, $0.property) }, uniquingKeysWith: { first, _ in first })
    var sentences: [String] = []
    if isScanned {
      let compared = Self._columns(in: statement.sql, following: #"\s*(?:=|<|>|IS|IN|BETWEEN|GLOB|LIKE)"#)
        .compactMap { names[$0] }
      if let first = compared.first {
        sentences.append(
          "All rows of \(entity.entityName) are read. A fetch index on '\(first)' would let SQLite search.")
      } else if statement.sql.contains(" WHERE ") {
        sentences.append(
          "All rows of \(entity.entityName) are read: no comparison of an attribute with a value narrows them down."
        )
      }
    }
    if isSorted {
      let order = statement.sql.range(of: " ORDER BY ").map { String(statement.sql[$0.upperBound...]) } ?? ""
      let keys = Self._columns(in: order, following: "").compactMap { names[$0] }
      if !keys.isEmpty {
        sentences.append(
          "The rows are sorted before the first is returned. A fetch index on "
            + "\(keys.map { "'\($0)'" }.joined(separator: ", ")) would have them in order.")
      }
    }
    self.sentences = sentences
  }

  /// Columns of the fetched table that a pattern follows, each once.
  private static func _columns(in sql: String, following pattern: String) -> [String] {
    guard let expression = try? NSRegularExpression(pattern: #"t0\.("[^"]+"|\w+)\)?"# + pattern) else {
      return []
    }
    let text = sql as NSString
    var found: [String] = []
    for match in expression.matches(in: sql, range: NSRange(location: 0, length: text.length)) {
      let column = text.substring(with: match.range(at: 1))
      if !found.contains(column) { found.append(column) }
    }
    return found
  }
}
