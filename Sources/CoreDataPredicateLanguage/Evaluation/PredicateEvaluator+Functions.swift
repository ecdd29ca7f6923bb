import Foundation

/// The predefined functions.
extension PredicateEvaluator {
  mutating func function(_ name: String, _ arguments: [ExpressionTree]) throws -> PredicateValue {
    switch name {
    case PredicateFunction.index where arguments.count == 2: return try _element(arguments[0], arguments[1])
    case PredicateFunction.fetch where arguments.count == 3:
      let values = try values(of: arguments)
      return try subject.predicateResult(ofFetch: values[0], in: values[1], countOnly: values[2].isTrue)
    default: break
    }
    guard let arity = PredicateFunction.arity[name] else {
      throw PredicateEvaluationError.unknownFunction(name)
    }
    guard arity.contains(arguments.count) else {
      throw PredicateEvaluationError.wrongOperand(name, "\(arguments.count) arguments")
    }
    let operands = try values(of: arguments)
    switch operands.count {
    case 0:
      return name == "now" ? .date(now()) : .int(Int64.random(in: 0...Int64(Int32.max)))
    case 2 where arity == 2...2: return try _binary(name, operands[0], operands[1])
    case 1 where arity == 1...1: return try _unary(name, operands[0])
    default: return try _statistic(name, operands)
    }
  }

  // MARK: One argument

  private func _unary(_ name: String, _ operand: PredicateValue) throws -> PredicateValue {
    if name == "noindex:" { return operand }
    if operand.isNull { return .null }
    switch name {
    case "uppercase:": return .string(try _string(name, operand).uppercased())
    case "lowercase:": return .string(try _string(name, operand).lowercased())
    case "canonical:":
      let text = try _string(name, operand)
      return .string(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
    case "length:": return .int(Int64(try _string(name, operand).utf16.count))
    default: return try Arithmetic.unary(name, operand)
    }
  }

  private func _string(_ name: String, _ operand: PredicateValue) throws -> String {
    guard case .string(let text) = operand else {
      throw PredicateEvaluationError.wrongOperand(name, operand.kindName)
    }
    return text
  }

  // MARK: Two arguments

  private func _binary(_ name: String, _ left: PredicateValue, _ right: PredicateValue) throws
    -> PredicateValue
  {
    switch name {
    case PredicateFunction.cast:
      guard case .string(let type) = right else {
        throw PredicateEvaluationError.wrongOperand("CAST to a type named by", right.kindName)
      }
      return try ValueCast.value(left, as: type)
    case "distanceToLocation:fromLocation:":
      return try Geography.distance(left, right) {
        try step($0, from: $1)
      }
    default: return try Arithmetic.binary(name, left, right)
    }
  }

  // MARK: Any number of arguments

  /// Takes one collection, or the numbers themselves.
  private func _statistic(_ name: String, _ operands: [PredicateValue]) throws -> PredicateValue {
    let elements: [PredicateValue]
    if operands.count == 1 {
      if operands[0].isNull {
        elements = []
      } else if let found = operands[0].elements {
        elements = found
      } else if name != "count:" {
        elements = operands
      } else {
        throw PredicateEvaluationError.wrongOperand(name, operands[0].kindName)
      }
    } else {
      elements = operands
    }
    switch name {
    case "count:": return .int(Int64(elements.count))
    case "sum:": return try Statistics.sum(elements)
    case "min:": return try extreme(of: elements, .orderedAscending)
    case "max:": return try extreme(of: elements, .orderedDescending)
    case "average:": return try Statistics.average(elements)
    case "median:": return try Statistics.median(elements)
    case "mode:": return try Statistics.mode(elements)
    default: return try Statistics.standardDeviation(elements)
    }
  }

  // MARK: Elements

  /// `collection[index]`, `dictionary["key"]`.
  private mutating func _element(_ base: ExpressionTree, _ index: ExpressionTree) throws -> PredicateValue {
    let container = try value(of: base)
    if container.isNull { return .null }
    if case .function(let symbol, let none) = index, none.isEmpty,
      PredicateFunction.indexSymbols.contains(symbol)
    {
      guard let elements = container.elements else {
        throw PredicateEvaluationError.wrongOperand("[\(symbol)]", container.kindName)
      }
      switch symbol {
      case "FIRST": return elements.first ?? .null
      case "LAST": return elements.last ?? .null
      default: return .int(Int64(elements.count))
      }
    }
    switch (container, try value(of: index)) {
    case (.dictionary(let entries), .string(let key)): return entries[key] ?? .null
    case (.object, .string(let key)): return try step(key, from: container)
    case (.collection(let elements), let position) where position.isNumber:
      guard let number = position.integer, number >= 0, number < elements.count else { return .null }
      return elements[Int(number)]
    case (_, let position):
      throw PredicateEvaluationError.wrongOperand("An index that is \(position.kindName)", container.kindName)
    }
  }
}
