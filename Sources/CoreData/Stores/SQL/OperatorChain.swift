import CoreDataPredicateLanguage

/// A chain such as `a + b + c`: nested applications of one operator.
package struct OperatorChain {
  /// The operands, in the order of the predicate.
  package private(set) var parts: [ExpressionTree] = []
  /// The order in which SQL, which applies operators from left to right, evaluates the operands.
  package private(set) var order: [Int]

  private static let _commutative: Set<PredicateFunction> = [.add, .multiply, .bitwiseAnd, .bitwiseOr]

  /// Creates the chain that starts with a function application; nil if there is only one application.
  package init?(_ function: PredicateFunction, _ arguments: [ExpressionTree]) {
    guard arguments.count == 2 else { return nil }
    if case .function(function, let inner) = arguments[0], inner.count == 2 {
      // (a + b) + c
      var reversed = [arguments[1]]
      var left = arguments[0]
      while case .function(function, let inner) = left, inner.count == 2 {
        reversed.append(inner[1])
        left = inner[0]
      }
      parts = [left] + reversed.reversed()
      order = Array(parts.indices)
    } else if case .function(function, let inner) = arguments[1], inner.count == 2,
      Self._commutative.contains(function)
    {
      // a + (b + c), which is (b + c) + a
      var right = ExpressionTree.function(function, arguments)
      while case .function(function, let inner) = right, inner.count == 2 {
        parts.append(inner[0])
        right = inner[1]
      }
      parts.append(right)
      order = [parts.count - 2, parts.count - 1] + (0..<parts.count - 2).reversed()
    } else {
      return nil
    }
  }
}
