import Foundation

/// Functions of one and two numbers. Null operands yield null.
enum Arithmetic {
  /// The value of a function of one number.
  static func value(of function: PredicateFunction, _ operand: PredicateValue) throws -> PredicateValue {
    if operand.isNull { return .null }
    guard operand.isNumber, let number = operand.double else {
      throw PredicateEvaluationError.wrongOperand(function.rawValue, operand.kindName)
    }
    switch function {
    case .absolute:
      switch operand {
      case .int(let whole): return whole == .min ? .double(number.magnitude) : .int(abs(whole))
      case .decimal(let decimal): return .decimal(decimal.magnitude)
      default: return .double(number.magnitude)
      }
    case .floor: return _rounded(operand, .down, number.rounded(.down))
    case .ceiling: return _rounded(operand, .up, number.rounded(.up))
    case .truncate:
      return _rounded(operand, number < 0 ? .up : .down, number.rounded(.towardZero))
    case .squareRoot: return .double(number.squareRoot())
    case .decimalLogarithm: return .double(log10(number))
    case .naturalLogarithm: return .double(log(number))
    case .exponential: return .double(exp(number))
    case .onesComplement: return .int(~(try _bits(function, operand)))
    case .randomBelow:
      let limit = try _bits(function, operand)
      guard limit > 0 else {
        throw PredicateEvaluationError.wrongOperand(function.rawValue, "a limit that is not positive")
      }
      return .int(Int64.random(in: 0..<limit))
    // The evaluator passes functions of one number only.
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation, .add, .subtract, .multiply,
      .divide, .modulus, .raise, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift, .random,
      .uppercase, .lowercase, .canonical, .length, .now, .unindexed, .cast, .distance, .fetch, .element,
      .first,
      .last, .size:
      preconditionFailure("\(function.rawValue) is no function of one number")
    }
  }

  private static func _rounded(
    _ operand: PredicateValue, _ mode: NSDecimalNumber.RoundingMode, _ rounded: Double
  ) -> PredicateValue {
    switch operand {
    case .bool, .int: return operand
    case .decimal(let decimal):
      var (source, result) = (decimal, Decimal())
      NSDecimalRound(&result, &source, 0, mode)
      return .decimal(result)
    default: return .double(rounded)
    }
  }

  /// The value of a function of two numbers.
  static func value(
    of function: PredicateFunction, _ left: PredicateValue, _ right: PredicateValue
  ) throws -> PredicateValue {
    if left.isNull || right.isNull { return .null }
    if let date = _dates(function, left, right) { return date }
    for operand in [left, right] where !operand.isNumber {
      throw PredicateEvaluationError.wrongOperand(function.rawValue, operand.kindName)
    }
    switch function {
    case .bitwiseAnd: return .int(try _bits(function, left) & _bits(function, right))
    case .bitwiseOr: return .int(try _bits(function, left) | _bits(function, right))
    case .bitwiseXor: return .int(try _bits(function, left) ^ _bits(function, right))
    case .leftShift: return .int(try _bits(function, left) << _bits(function, right))
    case .rightShift: return .int(try _bits(function, left) >> _bits(function, right))
    case .raise: return .double(pow(left.double ?? 0, right.double ?? 0))
    case .add, .subtract, .multiply, .divide, .modulus:
      if case .double = left { return _floating(function, left, right) }
      if case .double = right { return _floating(function, left, right) }
      if case .decimal = left { return _decimal(function, left, right) }
      if case .decimal = right { return _decimal(function, left, right) }
      return _whole(function, left, right)
    // The evaluator passes functions of two numbers only.
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation, .onesComplement, .absolute,
      .squareRoot, .exponential, .naturalLogarithm, .decimalLogarithm, .floor, .ceiling, .truncate, .random,
      .randomBelow, .uppercase, .lowercase, .canonical, .length, .now, .unindexed, .cast, .distance, .fetch,
      .element, .first, .last, .size:
      preconditionFailure("\(function.rawValue) is no function of two numbers")
    }
  }

  /// Adds seconds to a date, or subtracts two dates.
  private static func _dates(_ function: PredicateFunction, _ left: PredicateValue, _ right: PredicateValue)
    -> PredicateValue?
  {
    switch (function, left, right) {
    case (.subtract, .date(let later), .date(let earlier)): .double(later - earlier)
    case (.subtract, .date(let date), let seconds): seconds.double.map { .date(date - $0) }
    case (.add, .date(let date), let seconds), (.add, let seconds, .date(let date)):
      seconds.double.map { .date(date + $0) }
    default: nil
    }
  }

  private static func _bits(_ function: PredicateFunction, _ operand: PredicateValue) throws -> Int64 {
    guard let bits = operand.integer else {
      throw PredicateEvaluationError.wrongOperand(function.rawValue, "a number beyond 64 bits")
    }
    return bits
  }

  /// Integer operations yield integers, also for quotients; overflow yields floating point; division by zero
  /// yields null, as in SQL.
  private static func _whole(_ function: PredicateFunction, _ left: PredicateValue, _ right: PredicateValue)
    -> PredicateValue
  {
    let (l, r) = (left.integer ?? 0, right.integer ?? 0)
    let result: (partialValue: Int64, overflow: Bool)
    switch function {
    case .add: result = l.addingReportingOverflow(r)
    case .subtract: result = l.subtractingReportingOverflow(r)
    case .multiply: result = l.multipliedReportingOverflow(by: r)
    case .divide:
      if r == 0 { return .null }
      result = l.dividedReportingOverflow(by: r)
    default:
      if r == 0 { return .null }
      if r == -1 { return .int(0) }
      result = l.remainderReportingOverflow(dividingBy: r)
    }
    return result.overflow ? _floating(function, left, right) : .int(result.partialValue)
  }

  private static func _floating(
    _ function: PredicateFunction, _ left: PredicateValue, _ right: PredicateValue
  )
    -> PredicateValue
  {
    let (l, r) = (left.double ?? 0, right.double ?? 0)
    return switch function {
    case .add: .double(l + r)
    case .subtract: .double(l - r)
    case .multiply: .double(l * r)
    case .divide: .double(l / r)
    default: .double(l.truncatingRemainder(dividingBy: r))
    }
  }

  private static func _decimal(_ function: PredicateFunction, _ left: PredicateValue, _ right: PredicateValue)
    -> PredicateValue
  {
    let (l, r) = (left.decimal ?? 0, right.decimal ?? 0)
    switch function {
    case .add: return .decimal(l + r)
    case .subtract: return .decimal(l - r)
    case .multiply: return .decimal(l * r)
    default: break
    }
    guard r != 0 else { return .null }
    let quotient = l / r
    if function == .divide { return .decimal(quotient) }
    var (source, whole) = (quotient, Decimal())
    NSDecimalRound(&whole, &source, 0, quotient < 0 ? .up : .down)
    return .decimal(l - whole * r)
  }
}

/// Distances on the earth's surface.
enum Geography {
  /// Distance in metres between two locations: each a pair {latitude, longitude} in degrees, or an object
  /// with keys of these names.
  static func distance(
    _ left: PredicateValue, _ right: PredicateValue, key: (String, PredicateValue) throws -> PredicateValue
  ) throws -> PredicateValue {
    if left.isNull || right.isNull { return .null }
    let (from, to) = (try _coordinate(left, key), try _coordinate(right, key))
    let radius = 6_371_008.8
    let half = (latitude: (to.latitude - from.latitude) / 2, longitude: (to.longitude - from.longitude) / 2)
    let haversine =
      pow(sin(half.latitude), 2) + cos(from.latitude) * cos(to.latitude) * pow(sin(half.longitude), 2)
    return .double(2 * radius * asin(min(1, haversine.squareRoot())))
  }

  /// In radians.
  private static func _coordinate(
    _ value: PredicateValue, _ key: (String, PredicateValue) throws -> PredicateValue
  ) throws -> (latitude: Double, longitude: Double) {
    var pair: (PredicateValue, PredicateValue)?
    switch value {
    case .collection(let elements) where elements.count == 2: pair = (elements[0], elements[1])
    case .dictionary, .object: pair = (try key("latitude", value), try key("longitude", value))
    default: break
    }
    guard let latitude = pair?.0.double, let longitude = pair?.1.double else {
      throw PredicateEvaluationError.wrongOperand("distanceToLocation:fromLocation:", value.kindName)
    }
    return (latitude * .pi / 180, longitude * .pi / 180)
  }
}
