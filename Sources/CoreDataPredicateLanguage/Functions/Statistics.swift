import Foundation

/// Functions of many numbers. Null elements do not count.
enum Statistics {
  private static func _numbers(_ elements: [PredicateValue], _ name: String) throws -> [PredicateValue] {
    try elements.filter { element in
      if element.isNull { return false }
      guard element.isNumber else { throw PredicateEvaluationError.wrongOperand(name, element.kindName) }
      return true
    }
  }

  /// The sum; zero without elements. An integer if all elements are integers and the sum fits.
  static func sum(_ elements: [PredicateValue]) throws -> PredicateValue {
    try _numbers(elements, "The sum").reduce(.int(0)) { try Arithmetic.value(of: .add, $0, $1) }
  }

  /// The mean; null without elements.
  static func average(_ elements: [PredicateValue]) throws -> PredicateValue {
    let numbers = try _numbers(elements, "The average")
    return try _quotient(sum(numbers), numbers.count)
  }

  /// The mean as `@avg` computes it: a null element counts as zero.
  static func keyPathAverage(_ elements: [PredicateValue]) throws -> PredicateValue {
    try _quotient(sum(elements), elements.count)
  }

  private static func _quotient(_ sum: PredicateValue, _ count: Int) throws -> PredicateValue {
    if count == 0 { return .null }
    if case .decimal = sum { return try Arithmetic.value(of: .divide, sum, .int(Int64(count))) }
    return .double((sum.double ?? 0) / Double(count))
  }

  /// The median: the middle element, or the mean of the two middle ones; null without elements.
  static func median(_ elements: [PredicateValue]) throws -> PredicateValue {
    let numbers = try _numbers(elements, "The median").sorted {
      try $0.ordered(against: $1, options: []) == .orderedAscending
    }
    guard !numbers.isEmpty else { return .null }
    let middle = numbers.count / 2
    return numbers.count % 2 == 1 ? numbers[middle] : try average([numbers[middle - 1], numbers[middle]])
  }

  /// All elements that occur most often, in order of first appearance.
  static func mode(_ elements: [PredicateValue]) throws -> PredicateValue {
    var (counts, order): ([PredicateValue: Int], [PredicateValue]) = ([:], [])
    for number in try _numbers(elements, "The mode") {
      if counts[number] == nil { order.append(number) }
      counts[number, default: 0] += 1
    }
    let most = counts.values.max() ?? 0
    return .collection(order.filter { counts[$0] == most })
  }

  /// The standard deviation of the whole population; null without elements.
  static func standardDeviation(_ elements: [PredicateValue]) throws -> PredicateValue {
    let numbers = try _numbers(elements, "The standard deviation").compactMap(\.double)
    guard !numbers.isEmpty else { return .null }
    let mean = numbers.reduce(0, +) / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return .double((squares / Double(numbers.count)).squareRoot())
  }
}
