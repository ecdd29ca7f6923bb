/// A predefined function, by its selector.
///
/// Exhaustive switches define each function: its arguments here, its value in memory in `PredicateEvaluator`,
/// its SQL in each dialect. The compiler reports each switch that lacks a new function.
package enum PredicateFunction: String, Sendable, CaseIterable {
  // Of one collection, or of the values themselves.
  case count = "count:"
  case sum = "sum:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  case mode = "mode:"
  case standardDeviation = "stddev:"

  // Of two numbers.
  case add = "add:to:"
  case subtract = "from:subtract:"
  case multiply = "multiply:by:"
  case divide = "divide:by:"
  case modulus = "modulus:by:"
  case raise = "raise:toPower:"
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"

  // Of one number.
  case onesComplement = "onesComplement:"
  case absolute = "abs:"
  case squareRoot = "sqrt:"
  case exponential = "exp:"
  case naturalLogarithm = "ln:"
  case decimalLogarithm = "log:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case truncate = "trunc:"
  case random = "random"
  case randomBelow = "randomn:"

  // Of a text.
  case uppercase = "uppercase:"
  case lowercase = "lowercase:"
  case canonical = "canonical:"
  case length = "length:"

  case now = "now"
  /// The value itself, in a form that prevents the use of an index.
  case unindexed = "noindex:"
  case cast = "castObject:toType:"
  case distance = "distanceToLocation:fromLocation:"
  /// FETCH(request, context, countOnly), executed by the module that has contexts.
  case fetch = "FETCH"

  /// `collection[index]`, `dictionary["key"]`.
  case element = "objectFrom:withIndex:"
  // Keywords in brackets that replace an index; without arguments.
  case first = "FIRST"
  case last = "LAST"
  case size = "SIZE"
}

extension PredicateFunction {
  /// Smallest and largest number of arguments.
  package var arity: ClosedRange<Int> {
    switch self {
    case .count, .sum, .min, .max, .average, .median, .mode, .standardDeviation: 1...Int.max
    case .add, .subtract, .multiply, .divide, .modulus, .raise, .bitwiseAnd, .bitwiseOr, .bitwiseXor,
      .leftShift,
      .rightShift, .cast, .distance, .element:
      2...2
    case .onesComplement, .absolute, .squareRoot, .exponential, .naturalLogarithm, .decimalLogarithm, .floor,
      .ceiling, .truncate, .randomBelow, .uppercase, .lowercase, .canonical, .length, .unindexed:
      1...1
    case .fetch: 3...3
    case .now, .random, .first, .last, .size: 0...0
    }
  }

  /// Whether it takes many values together: those of a collection, or of rows.
  package var isAggregate: Bool { arity.upperBound == .max }

  /// Whether it occurs only in the brackets of an element.
  package var isIndexSymbol: Bool { self == .first || self == .last || self == .size }

  // MARK: Names

  /// The functions that can be called by name.
  package static var called: [PredicateFunction] { allCases.filter { !$0.isIndexSymbol } }

  /// By the folded selector, and by the folded name without a single colon.
  private static let _byFoldedName: [String: PredicateFunction] = {
    var table: [String: PredicateFunction] = [:]
    for function in called {
      let selector = function.rawValue.lowercased()
      table[selector] = function
      if selector.hasSuffix(":"), function.arity.upperBound != 2 {
        table[String(selector.dropLast())] = function
      }
    }
    return table
  }()

  /// The function called `name`: `sum`, `sum:`, `add:to:`, in any case; nil if there is none.
  package init?(named name: String) {
    guard let function = Self._byFoldedName[name.lowercased()] else { return nil }
    self = function
  }

  /// The aggregate of a collection operator, by the operator's name without `@`; nil if there is none.
  package init?(collectionOperator name: String) {
    switch name {
    case "avg": self = .average
    default:
      guard let function = PredicateFunction(rawValue: name + ":"), function.isAggregate else { return nil }
      self = function
    }
  }

  /// The name without a single colon: `lowercase`, but `add:to:`.
  package var shortName: Substring {
    let isShort = rawValue.hasSuffix(":") && !rawValue.dropLast().contains(":")
    return isShort ? rawValue.dropLast() : rawValue[...]
  }

  // MARK: Operators

  /// The binary operator that denotes the function, and its precedence; nil for a function that is written as
  /// a call.
  var infix: (symbol: Symbol, power: Int)? {
    switch self {
    case .bitwiseOr: (.bitOr, 2)
    case .bitwiseXor: (.bitXor, 3)
    case .bitwiseAnd: (.bitAnd, 4)
    case .leftShift: (.shiftLeft, 5)
    case .rightShift: (.shiftRight, 5)
    case .add: (.plus, 6)
    case .subtract: (.minus, 6)
    case .multiply: (.star, 7)
    case .divide: (.slash, 7)
    case .raise: (.power, Power.exponent)
    default: nil
    }
  }

  private static let _bySymbol: [Symbol: (PredicateFunction, power: Int)] = {
    var table: [Symbol: (PredicateFunction, power: Int)] = [:]
    for function in allCases {
      if let (symbol, power) = function.infix { table[symbol] = (function, power) }
    }
    return table
  }()

  /// The function of a binary operator, and the operator's precedence.
  static func infix(_ symbol: Symbol) -> (function: PredicateFunction, power: Int)? { _bySymbol[symbol] }

  /// Precedence of the parts of an expression; a larger one binds more tightly.
  enum Power {
    static let assignment = 0
    static let sets = 1
    static let unary = 8
    static let exponent = 9
    static let primary = 10
  }
}
