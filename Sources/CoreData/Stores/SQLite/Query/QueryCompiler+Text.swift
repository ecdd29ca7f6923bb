import CoreDataPredicateLanguage

/// What can be asked of two texts.
enum StringOperation: Int64, Sendable {
  case equal = 0
  case contains = 1
  case beginsWith = 2
  case endsWith = 3
  case like = 4
  case matches = 5
}

/// Names of the SQL functions for texts.
enum StringFunction {
  /// (text, pattern, operation, options): 1, 0 or NULL.
  static let test = "NSCoreDataStringSearch"
  /// (left, right, options): -1, 0, 1 or NULL.
  static let compare = "NSCoreDataStringCompare"
}

/// Texts: plain SQL where it means the same and can use an index, the string functions otherwise.
extension QueryCompiler {
  /// Whether options ask for more than comparing bytes; [n] says that bytes will do, whatever else stands
  /// beside it.
  func usesTextFunction(_ options: PredicateTree.Comparison.Options) -> Bool {
    !options.isEmpty && !options.contains(.normalized)
  }

  /// `=`, `<` ... of two texts with options; nil when it is a plain comparison.
  mutating func textRelation(
    _ left: Operand, _ symbol: String, _ right: Operand, _ comparison: PredicateTree.Comparison
  ) throws -> SQLFragment? {
    guard usesTextFunction(comparison.options), left.kind == .string || right.kind == .string else {
      return nil
    }
    let (l, r) = try sides(left, right, comparison)
    let options = String(comparison.options.rawValue)
    switch symbol {
    case "=": return _test(.equal, l, r, comparison)
    case "<>": return "NOT \(_test(.equal, l, r, comparison))"
    default: return "\(sql: StringFunction.compare)(\(l), \(r), \(sql: options)) \(sql: symbol) 0"
    }
  }

  mutating func textTest(
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
    guard !usesTextFunction(comparison.options), case .constant(let index, .string(let pattern)) = right,
      !pattern.isEmpty
    else { return _test(operation, l, r, comparison) }
    switch operation {
    case .beginsWith:
      // A range, so that an index on the attribute serves.
      return "(\(l) >= \(r) AND \(l) < \(QueryParameter.constant(index, .endOfPrefix)))"
    case .endsWith: return "substr(\(l), -length(\(r))) = \(r)"
    case .contains: return "instr(\(l), \(r)) > 0"
    case .equal, .like, .matches: return _test(operation, l, r, comparison)
    }
  }

  /// A side as text; a number is taken for its text.
  private mutating func _text(_ side: Operand, _ expression: ExpressionTree) throws -> SQLFragment {
    let value = try scalar(side, .natural, expression.outline)
    return side.kind == .number ? "NSCoreDataText(\(value))" : value
  }

  private func _test(
    _ operation: StringOperation, _ left: SQLFragment, _ right: SQLFragment,
    _ comparison: PredicateTree.Comparison
  ) -> SQLFragment {
    let numbers = "\(operation.rawValue), \(comparison.options.rawValue)"
    return "\(sql: StringFunction.test)(\(left), \(right), \(sql: numbers))"
  }
}
