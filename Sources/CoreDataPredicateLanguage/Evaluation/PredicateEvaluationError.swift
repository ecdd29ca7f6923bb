/// The reason why a predicate cannot be evaluated on an object.
package enum PredicateEvaluationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// `$name` has no value.
  case unboundVariable(String)
  /// The target has no such key; the target, as text.
  case unknownKey(String, of: String)
  case unknownCollectionOperator(String)
  case unknownType(String)
  /// The operation, and an operand of the wrong type.
  case wrongOperand(String, String)
  /// Two kinds of values without a common order.
  case incomparable(String, String)
  /// ANY or ALL with a left side that is not a collection.
  case needsCollection(String)
  /// An invalid regular expression.
  case badPattern(String)
  /// The operator, and a pattern whose match takes too many steps or too much memory.
  case tooExpensive(String, String)
  /// A selector that the target does not implement, and the kind of target.
  case unknownSelector(String, on: String)
  case unsupported(String)

  package var description: String {
    switch self {
    case .unboundVariable(let name):
      "The predicate holds the variable $\(name), which was given no value; "
        + "pass one in the substitution variables."
    case .unknownKey(let key, let subject):
      "\(subject) has no value for the key “\(key)”."
    case .unknownCollectionOperator(let name):
      "“\(name)” is not a collection operator; there are @count, @sum, @avg, @min, @max, "
        + "@distinctUnionOfObjects, @unionOfObjects and their like for arrays and sets."
    case .unknownType(let name):
      "CAST to the unknown type “\(name)”; known are \(ValueCast.names.joined(separator: ", "))."
    case .wrongOperand(let operation, let found): "\(operation) is not possible with \(found)."
    case .incomparable(let left, let right): "\(left) and \(right) have no order between them."
    case .needsCollection(let found): "ANY, ALL and SUBQUERY need a collection, and found \(found)."
    case .badPattern(let pattern): "“\(pattern)” is not a regular expression."
    case .tooExpensive(let operation, let pattern):
      "\(operation) gave up on the pattern “\(pattern.prefix(200))”: trying it on a value takes too many "
        + "steps or too much memory; use a simpler pattern."
    case .unknownSelector(let selector, let target): "\(target) does not answer to “\(selector)”."
    case .unsupported(let what): what
    }
  }
}
