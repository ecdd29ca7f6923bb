import CoreDataModelSchema
import CoreDataPredicateLanguage

/// A fetch of dictionaries resolved against a frozen model: columns computed from rows, one by one or in
/// groups.
package struct DictionaryPlan: Sendable {
  package struct Column: Sendable {
    /// Key in the dictionary.
    package let name: String
    package let expression: ExpressionTree
    /// How the value is read; `.objectID` for an object, `.undefined` for whatever comes.
    package let type: AttributeType
  }

  /// Which rows, in which order; limit and offset count dictionaries.
  ///
  /// A sort term may name a column that is no property.
  package var rows: FetchPlan
  package var columns: [Column]
  /// What rows of one group have in common.
  package var groups: [ExpressionTree] = []
  /// Condition on groups; variables are columns by name.
  package var having: PredicateTree?
  /// Equal dictionaries come once.
  package var isDistinct = false
  /// Whether rows are collapsed: into groups, or all into one by an aggregate.
  package var isGrouped = false
}

/// Functions over all rows of a group, as told from functions over the members of a to-many.
package enum RowAggregate {
  private static let _operators: [String: PredicateFunction] = [
    "@count": .count, "@sum": .sum, "@min": .min, "@max": .max, "@avg": .average,
  ]

  /// Whether a function with these arguments is taken over rows: it has one argument, which has one value
  /// for each row.
  package static func isTaken(
    _ function: PredicateFunction, _ arguments: [ExpressionTree], from layout: PropertyLayout,
    in model: [PropertyLayout]
  ) -> Bool {
    function.isAggregate && arguments.count == 1 && _isSingle(arguments[0], layout, model)
  }

  /// What an aggregate of these values comes to in a dictionary, which has room for one: of several modes the
  /// smallest.
  package static func value(_ function: PredicateFunction, of values: [PredicateValue]) throws
    -> PredicateValue
  {
    let nothing = ValueSubject(.null)
    let result = try ExpressionTree.function(function, [.constant(.collection(values))]).value(for: nothing)
    guard case .collection = result else { return result }
    return try ExpressionTree.function(.min, [.constant(result)]).value(for: nothing)
  }

  /// Whether any part of the expression is taken over rows.
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

  /// `@sum.price` at the start of a path as the function that it means here.
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
