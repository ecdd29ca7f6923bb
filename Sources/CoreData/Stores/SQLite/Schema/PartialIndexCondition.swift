import CoreDataModelSchema
import CoreDataPredicateLanguage
import Foundation

/// The WHERE clause of a partial index, from its predicate in the model.
///
/// An index supports conditions on the row's own columns and constants: comparisons, nil, IN, and AND, OR and
/// NOT of those.
struct PartialIndexCondition {
  let sql: String

  /// The reason why a predicate cannot be an index condition.
  struct Refusal: Error {
    let reason: String
  }

  private static let _operators: [PredicateTree.Comparison.Operator: String] = [
    .lessThan: "<", .lessThanOrEqual: "<=", .greaterThan: ">", .greaterThanOrEqual: ">=", .equal: "=",
    .notEqual: "<>",
  ]

  /// - Parameters:
  ///   - text: The predicate's format.
  ///   - column: Returns the column of a property of the entity.
  /// - Throws: `Refusal`, or an error of `column`.
  init(_ text: String, column: (String) throws -> String) throws {
    let tree: PredicateTree
    do {
      tree = try PredicateTemplate.cached(text).predicate()
    } catch {
      throw Refusal(reason: "its predicate '\(text)' is no predicate: \(error)")
    }
    sql = try Self._sql(tree, column)
  }

  private static func _sql(_ tree: PredicateTree, _ column: (String) throws -> String) throws -> String {
    switch tree {
    case .constant(let value): return value ? "1" : "0"
    case .not(let operand): return "NOT (\(try _sql(operand, column)))"
    case .and(let members) where !members.isEmpty:
      return try members.map { try _member($0, column) }.joined(separator: " AND ")
    case .or(let members) where !members.isEmpty:
      return try members.map { try _member($0, column) }.joined(separator: " OR ")
    case .comparison(let comparison): return try _sql(comparison, column)
    default: throw Refusal(reason: "its predicate has a part that stands for no condition on a row: \(tree)")
    }
  }

  private static func _member(_ tree: PredicateTree, _ column: (String) throws -> String) throws -> String {
    switch tree {
    case .and, .or: "(\(try _sql(tree, column)))"
    default: try _sql(tree, column)
    }
  }

  private static func _sql(
    _ comparison: PredicateTree.Comparison, _ column: (String) throws -> String
  ) throws -> String {
    func refuse() -> Refusal {
      Refusal(
        reason:
          "its predicate has '\(PredicatePrinter.text(of: .comparison(comparison)))'; an index takes comparisons "
          + "of the entity's own attributes with constants (=, <, IN, nil) and AND, OR and NOT of those")
    }
    guard comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(let path) = comparison.left, path.count == 1
    else { throw refuse() }
    let name = try column(path[0])
    let constants: [PredicateValue]
    switch comparison.right {
    case .constant(let value): constants = [value]
    case .aggregate(let members):
      constants = try members.map { member in
        guard case .constant(let value) = member else { throw refuse() }
        return value
      }
    default: throw refuse()
    }
    if comparison.op == .in {
      let members = constants.count == 1 ? constants[0].elements ?? constants : constants
      let literals = try members.map { value in
        guard let literal = _literal(value) else { throw refuse() }
        return literal
      }
      return "\(name) IN (\(literals.joined(separator: ", ")))"
    }
    guard constants.count == 1, let op = _operators[comparison.op] else { throw refuse() }
    if constants[0].isNull {
      switch comparison.op {
      case .equal: return "\(name) IS NULL"
      case .notEqual: return "\(name) IS NOT NULL"
      default: throw refuse()
      }
    }
    guard let literal = _literal(constants[0]) else { throw refuse() }
    return "\(name) \(op) \(literal)"
  }

  private static func _literal(_ value: PredicateValue) -> String? {
    switch value {
    case .bool(let flag): flag ? "1" : "0"
    case .int(let number): String(number)
    case .double(let number), .date(let number): number.isFinite ? String(number) : nil
    case .string(let text): text.contains("\0") ? nil : "'\(text.replacing("'", with: "''"))'"
    default: nil
    }
  }
}
