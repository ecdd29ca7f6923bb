import CoreDataModelSchema
import CoreDataPredicateLanguage

/// Quotients: memory divides whole numbers without a fraction and all others exactly, whatever types a database
/// computes its numbers in.
extension QueryCompiler {
  /// Compiles a quotient of two whole numbers; nil for every other function, and on databases that divide whole
  /// numbers as memory does.
  mutating func wholeQuotient(
    _ function: PredicateFunction, _ arguments: [ExpressionTree]
  ) throws -> Operand? {
    guard function == .divide, arguments.count == 2, let quotient = dialect.wholeQuotient,
      isWhole(arguments[0]), isWhole(arguments[1])
    else { return nil }
    let dividend = try value(arguments[0])
    return .scalar(quotient(dividend, try value(arguments[1])), .number)
  }

  /// Whether memory computes a whole number for an expression. The kinds of constants belong to the shape of a
  /// predicate, so the answer holds for all fetches that share a compiled query.
  func isWhole(_ expression: ExpressionTree) -> Bool {
    switch expression {
    case .constant(.int), .constant(.bool): true
    case .keyPath(let path), .keyPathOf(.evaluatedObject, let path):
      _isWhole(path[...], from: evaluated.layout)
    case .keyPathOf(.variable(let name), let path):
      variables[name].map { _isWhole(path[...], from: $0.layout) } ?? false
    case .keyPathOf(.subquery, let path): path == ["@count"]
    case .function(let function, let arguments): _isWhole(function, arguments)
    case .conditional(_, let first, let second): isWhole(first) && isWhole(second)
    default: false
    }
  }

  private func _isWhole(_ function: PredicateFunction, _ arguments: [ExpressionTree]) -> Bool {
    switch function {
    case .add, .subtract, .multiply, .divide, .modulus, .absolute: arguments.allSatisfy(isWhole)
    case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .onesComplement, .count, .length: true
    default: false
    }
  }

  private func _isWhole(_ path: ArraySlice<String>, from start: PropertyLayout) -> Bool {
    var layout = start
    var rest = path
    while let key = rest.popFirst() {
      if key == "@count" { return rest.isEmpty }
      guard let slot = layout.slot(named: key) else { return false }
      switch mapping.storage(of: slot, in: layout.entityNumber) {
      case .attribute(let column):
        if let property = rest.first { return rest.count == 1 && Self._wholeProperties.contains(property) }
        return _isWhole(column, of: layout)
      case .composite(let leaves):
        return leaves.first { $0.names.elementsEqual(rest) }.map { _isWhole($0.column, of: layout) } ?? false
      case .toOne(_, _, _, let destination): layout = mapping.layout.layout(numbered: destination)
      case .oneToMany, .manyToMany: return rest.elementsEqual(["@count"])
      case .none: return false
      }
    }
    return false
  }

  private func _isWhole(_ column: Int, of layout: PropertyLayout) -> Bool {
    switch mapping.column(column, of: layout.entityNumber).content {
    case .int, .bool: true
    default: false
    }
  }

  private static let _wholeProperties: Set<String> = [
    "intValue", "integerValue", "longLongValue", "boolValue", "length",
  ]
}
