/// One side of a comparison, as a value. The public `NSExpression` wraps it.
package indirect enum ExpressionTree: Sendable, Hashable {
  package enum SetOperator: Sendable, Hashable { case union, intersect, minus }

  case constant(PredicateValue)
  /// SELF.
  case evaluatedObject
  /// `$name`.
  case variable(String)
  /// A key path from the evaluated object: components such as `["route", "stops", "@count"]`.
  case keyPath([String])
  /// A key path from another expression, such as `$x.name` or `FUNCTION(...).name`.
  case keyPathOf(ExpressionTree, [String])
  /// A predefined function with its arguments.
  case function(PredicateFunction, [ExpressionTree])
  /// FUNCTION(target, 'selector', arguments...).
  case customFunction(ExpressionTree, String, [ExpressionTree])
  case subquery(ExpressionTree, variable: String, PredicateTree)
  /// `{a, b, c}` with at least one element that is not a constant; all-constant aggregates are constants.
  case aggregate([ExpressionTree])
  case set(SetOperator, ExpressionTree, ExpressionTree)
  /// TERNARY(predicate, then, else).
  case conditional(PredicateTree, ExpressionTree, ExpressionTree)
  /// `$name := expression`.
  case assignment(String, ExpressionTree)
  case anyKey
  /// A Swift closure; never translatable to SQL.
  case block(PredicateObject, [ExpressionTree])
}
