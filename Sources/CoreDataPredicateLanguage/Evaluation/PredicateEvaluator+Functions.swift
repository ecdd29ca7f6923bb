import Foundation

/// The predefined functions.
extension PredicateEvaluator {
  mutating func function(_ function: PredicateFunction, _ arguments: [ExpressionTree]) throws
    -> PredicateValue
  {
    guard function.arity.contains(arguments.count) else {
      throw PredicateEvaluationError.wrongOperand(function.rawValue, "\(arguments.count) arguments")
    }
    if function == .element { return try _element(arguments[0], arguments[1]) }
    let operands = try values(of: arguments)
    switch function {
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation:
      return try _aggregate(function, operands)
    case .add, .subtract, .multiply, .divide, .modulus, .raise, .bitwiseAnd, .bitwiseOr, .bitwiseXor,
      .leftShift,
      .rightShift:
      return try Arithmetic.value(of: function, operands[0], operands[1])
    case .onesComplement, .absolute, .squareRoot, .exponential, .naturalLogarithm, .decimalLogarithm, .floor,
      .ceiling, .truncate, .randomBelow:
      return try Arithmetic.value(of: function, operands[0])
    case .uppercase: return try _text(function, operands[0]) { .string($0.uppercased()) }
    case .lowercase: return try _text(function, operands[0]) { .string($0.lowercased()) }
    case .canonical:
      return try _text(function, operands[0]) {
        .string($0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
      }
    case .length: return try _text(function, operands[0]) { .int(Int64($0.utf16.count)) }
    case .now: return .date(now())
    case .random: return .int(Int64.random(in: 0...Int64(Int32.max)))
    case .unindexed: return operands[0]
    case .cast:
      guard case .string(let type) = operands[1] else {
        throw PredicateEvaluationError.wrongOperand("CAST to a type named by", operands[1].kindName)
      }
      return try ValueCast.value(operands[0], as: type)
    case .distance: return try Geography.distance(operands[0], operands[1]) { try step($0, from: $1) }
    case .fetch:
      return try subject.predicateResult(ofFetch: operands[0], in: operands[1], countOnly: operands[2].isTrue)
    case .element, .first, .last, .size:
      throw PredicateEvaluationError.unsupported(
        "\(function.rawValue) stands in brackets behind a collection only: collection[\(function.rawValue)]")
    }
  }

  // MARK: Texts

  private func _text(
    _ function: PredicateFunction, _ operand: PredicateValue, _ body: (String) -> PredicateValue
  ) throws -> PredicateValue {
    if operand.isNull { return .null }
    guard case .string(let text) = operand else {
      throw PredicateEvaluationError.wrongOperand(function.rawValue, operand.kindName)
    }
    return body(text)
  }

  // MARK: Any number of arguments

  /// Accepts one collection, or the numbers themselves.
  private func _aggregate(_ function: PredicateFunction, _ operands: [PredicateValue]) throws
    -> PredicateValue
  {
    let elements: [PredicateValue]
    if operands.count == 1 {
      if operands[0].isNull {
        elements = []
      } else if let found = operands[0].elements {
        elements = found
      } else if function != .count {
        elements = operands
      } else {
        throw PredicateEvaluationError.wrongOperand(function.rawValue, operands[0].kindName)
      }
    } else {
      elements = operands
    }
    switch function {
    case .count: return .int(Int64(elements.count))
    case .sum: return try Statistics.sum(elements)
    case .min: return try extreme(of: elements, .orderedAscending)
    case .max: return try extreme(of: elements, .orderedDescending)
    case .average: return try Statistics.average(elements)
    case .median: return try Statistics.median(elements)
    case .mode: return try Statistics.mode(elements)
    default: return try Statistics.standardDeviation(elements)
    }
  }

  // MARK: Elements

  /// `collection[index]`, `dictionary["key"]`.
  private mutating func _element(_ base: ExpressionTree, _ index: ExpressionTree) throws -> PredicateValue {
    let container = try value(of: base)
    if container.isNull { return .null }
    if case .function(let symbol, _) = index, symbol.isIndexSymbol {
      guard let elements = container.elements else {
        throw PredicateEvaluationError.wrongOperand("[\(symbol.rawValue)]", container.kindName)
      }
      switch symbol {
      case .first: return elements.first ?? .null
      case .last: return elements.last ?? .null
      default: return .int(Int64(elements.count))
      }
    }
    switch (container, try value(of: index)) {
    // Keys of other types than text stand under their text.
    case (.dictionary(let entries), let key): return entries[key.plainText] ?? .null
    case (.object, .string(let key)): return try step(key, from: container)
    case (.collection(let elements), let position) where position.isNumber:
      guard let number = position.integer, number >= 0, number < elements.count else { return .null }
      return elements[Int(number)]
    case (_, let position):
      throw PredicateEvaluationError.wrongOperand("An index that is \(position.kindName)", container.kindName)
    }
  }
}
