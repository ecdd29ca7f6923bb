import CoreDataPredicateLanguage

/// A comparison of two texts.
package enum StringOperation: Int64, Sendable {
  case equal = 0
  case contains = 1
  case beginsWith = 2
  case endsWith = 3
  case like = 4
  case matches = 5
}

extension PredicateTree.Comparison.Options {
  /// Whether the options require more than a comparison of bytes; [n] specifies bytes regardless of other
  /// options.
  package var needsTextFunction: Bool { !isEmpty && !contains(.normalized) }
}

/// Text comparisons: plain SQL if it is equivalent and can use an index, otherwise the string functions.
extension QueryCompiler {
  /// Compiles `=`, `<` ... for two texts with options; nil for a plain comparison.
  package mutating func textRelation(
    _ left: Operand, _ symbol: String, _ right: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment? {
    guard comparison.options.needsTextFunction, left.kind == .string || right.kind == .string else {
      return nil
    }
    let (l, r) = try sides(left, right, comparison)
    switch symbol {
    case "=": return try _test(.equal, l, r, constant: nil, comparison)
    case "<>": return "NOT \(try _test(.equal, l, r, constant: nil, comparison))"
    default:
      guard let test = dialect.compare(l, symbol, r, comparison.options) else {
        throw untranslatable(comparison.left.outline, "\(dialect.name) has no such order of texts")
      }
      return test
    }
  }

  package mutating func textTest(
    _ operation: StringOperation, _ left: Operand, _ right: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    for (side, expression) in [(left, comparison.left), (right, comparison.right)] {
      switch side {
      case .constant(_, .string), .constant(_, .url), .constant(_, .null), .scalar(_, .string),
        .scalar(_, .other), .constant(_, .bool), .constant(_, .int), .constant(_, .double),
        .constant(_, .decimal), .scalar(_, .number):
        break
      case .constant, .scalar:
        throw untranslatable(expression.outline, "it is not text, which \(operation) needs on both sides")
      default: throw untranslatable(expression.outline, "\(operation) needs text, not objects")
      }
    }
    let l = try _text(left, comparison.left)
    let r = try _text(right, comparison.right)
    var constant: Int?
    if case .constant(let index, .string(let pattern)) = right, !pattern.isEmpty { constant = index }
    return try _test(operation, l, r, constant: constant, comparison)
  }

  /// Compiles a side as text; a number is converted to text.
  private mutating func _text(_ side: Operand, _ expression: ExpressionTree) throws -> SQLFragment {
    let value = try scalar(side, .natural, expression.outline)
    return side.kind == .number ? dialect.text(ofNumber: value) : value
  }

  private func _test(
    _ operation: StringOperation, _ left: SQLFragment, _ right: SQLFragment, constant: Int?,
    _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment {
    guard let test = dialect.test(operation, left, right, constant: constant, comparison.options) else {
      throw untranslatable(
        comparison.left.outline,
        "\(dialect.name) cannot test '\(operation)' with these options or this pattern; fetch without it and filter the result"
      )
    }
    return test
  }
}
