import PredicateLanguage

/// The constants of a predicate in a fixed order: as they are written, left before right.
enum QueryConstants {
  static func collect(_ predicate: PredicateTree?) -> [PredicateValue] {
    guard let predicate else { return [] }
    var values: [PredicateValue] = []
    _collect(predicate, &values)
    return values
  }

  private static func _collect(_ predicate: PredicateTree, _ values: inout [PredicateValue]) {
    switch predicate {
    case .comparison(let comparison):
      _collect(comparison.left, &values)
      _collect(comparison.right, &values)
    case .not(let member): _collect(member, &values)
    case .and(let members), .or(let members):
      for member in members { _collect(member, &values) }
    case .constant, .block: break
    }
  }

  private static func _collect(_ expression: ExpressionTree, _ values: inout [PredicateValue]) {
    switch expression {
    case .constant(let value): values.append(value)
    case .keyPathOf(let base, _): _collect(base, &values)
    case .function(_, let arguments): for argument in arguments { _collect(argument, &values) }
    case .subquery(let collection, _, let predicate):
      _collect(collection, &values)
      _collect(predicate, &values)
    case .aggregate(let members): for member in members { _collect(member, &values) }
    case .conditional(let test, let first, let second):
      _collect(test, &values)
      _collect(first, &values)
      _collect(second, &values)
    // No SQL is made of these, so nothing in them is ever bound.
    case .evaluatedObject, .variable, .keyPath, .customFunction, .set, .assignment, .anyKey, .block: break
    }
  }
}
