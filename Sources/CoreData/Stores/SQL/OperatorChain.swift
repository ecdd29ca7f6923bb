import CoreDataPredicateLanguage

/// `a + b + c`: applications of one operator to the results of each other.
package struct OperatorChain {
  /// What the operator is applied to, in the order of the predicate.
  package private(set) var parts: [ExpressionTree] = []
  /// The order in which SQL, which applies an operator from left to right, takes the parts.
  package private(set) var order: [Int]

  private static let _commutative: Set<PredicateFunction> = [.add, .multiply, .bitwiseAnd, .bitwiseOr]

  /// The chain that a function's application begins; nil if it is the only one.
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
