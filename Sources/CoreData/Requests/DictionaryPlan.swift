import CoreDataModelSchema
import CoreDataPredicateLanguage

/// A dictionary fetch resolved against a frozen model: columns computed per row or per group.
package struct DictionaryPlan: Sendable {
  package struct Column: Sendable {
    /// Key in the dictionary.
    package let name: String
    package let expression: ExpressionTree
    /// The type of the value; `.objectID` for an object, `.undefined` for any value.
    package let type: AttributeType
  }

  /// Selects and sorts the rows; limit and offset count dictionaries.
  ///
  /// A sort term may name a column that is not a property.
  package var rows: FetchPlan
  package var columns: [Column]
  /// The GROUP BY expressions.
  package var groups: [ExpressionTree] = []
  /// The HAVING condition; its variables are columns by name.
  package var having: PredicateTree?
  /// Whether equal dictionaries are returned once.
  package var isDistinct = false
  /// Whether rows are collapsed: into groups, or all into one by an aggregate.
  package var isGrouped = false
}

/// Aggregates over all rows of a group, as opposed to functions over the members of a to-many.
package enum RowAggregate {
  private static let _operators: [String: PredicateFunction] = [
    "@count": .count, "@sum": .sum, "@min": .min, "@max": .max, "@avg": .average,
  ]

  /// Whether a function with these arguments aggregates rows: it has one argument with one value per row.
  package static func isTaken(
    _ function: PredicateFunction, _ arguments: [ExpressionTree], from layout: PropertyLayout,
    in model: [PropertyLayout]
  ) -> Bool {
    function.isAggregate && arguments.count == 1 && _isSingle(arguments[0], layout, model)
  }

  /// Returns the single value of an aggregate for a dictionary; of several modes, the smallest.
  package static func value(_ function: PredicateFunction, of values: [PredicateValue]) throws
    -> PredicateValue
  {
    let nothing = ValueSubject(.null)
    let result = try ExpressionTree.function(function, [.constant(.collection(values))]).value(for: nothing)
    guard case .collection = result else { return result }
    return try ExpressionTree.function(.min, [.constant(result)]).value(for: nothing)
  }

  /// Whether any part of the expression aggregates rows.
  package static func occurs(
    in expression: ExpressionTree, from layout: PropertyLayout, in model: [PropertyLayout]
  )
    -> Bool
  {
    var found = false
    expression.forEachExpression { part in
      if case .function(let function, let arguments) = part,
        isTaken(function, arguments, from: layout, in: model)
      {
        found = true
      }
    }
    return found
  }

  /// Replaces a leading operator such as `@sum.price` by the function that it stands for.
  package static func spelledOut(_ expression: ExpressionTree) -> ExpressionTree {
    expression.rewritten { (part: ExpressionTree) throws(Never) -> ExpressionTree? in
      guard case .keyPath(let path) = part, let function = path.first.flatMap({ _operators[$0] }) else {
        return nil
      }
      let rest = Array(path.dropFirst())
      if rest.isEmpty { return function == .count ? .function(function, [.evaluatedObject]) : nil }
      return .function(function, [.keyPath(rest)])
    } ?? expression
  }

  private static func _isSingle(
    _ expression: ExpressionTree, _ layout: PropertyLayout, _ model: [PropertyLayout]
  ) -> Bool {
    switch expression {
    case .constant(.collection), .constant(.dictionary), .aggregate, .subquery, .set, .anyKey: return false
    case .keyPath(let path):
      var layout = layout
      for (index, key) in path.enumerated() {
        guard let slot = layout.slot(named: key), let relationship = layout.slots[slot].relationship else {
          return true
        }
        if relationship.isToMany { return path[index...].contains { $0.hasPrefix("@") } }
        layout = model[relationship.destination - 1]
      }
      return true
    case .keyPathOf(let base, let path):
      if case .subquery = base { return path.contains { $0.hasPrefix("@") } }
      return true
    case .function(let function, let arguments):
      return function.isAggregate || arguments.allSatisfy { _isSingle($0, layout, model) }
    default: return true
    }
  }
}
