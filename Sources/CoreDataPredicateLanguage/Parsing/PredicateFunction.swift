/// The predefined functions: their selectors, the names they may be called by, and how many arguments they
/// take.
package enum PredicateFunction {
  /// `array[FIRST]`, `array[LAST]`, `array[SIZE]`: in a tree, functions without arguments as the index.
  package static let indexSymbols: Set<String> = ["FIRST", "LAST", "SIZE"]
  package static let index = "objectFrom:withIndex:"
  package static let cast = "castObject:toType:"
  /// FETCH(request, context, countOnly), which the owner of contexts carries out.
  package static let fetch = "FETCH"

  /// Smallest and largest number of arguments by selector.
  package static let arity: [String: ClosedRange<Int>] = {
    var table: [String: ClosedRange<Int>] = [
      "now": 0...0, "random": 0...0, fetch: 3...3,
    ]
    // These take one collection, or the numbers themselves.
    for name in ["sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:"] {
      table[name] = 1...Int.max
    }
    for name in [
      "sqrt:", "log:", "ln:", "exp:", "floor:", "ceiling:", "abs:", "trunc:", "uppercase:", "lowercase:",
      "canonical:", "length:", "randomn:", "onesComplement:", "noindex:",
    ] {
      table[name] = 1...1
    }
    for name in [
      "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:",
      "bitwiseAnd:with:", "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:", cast,
      index,
      "distanceToLocation:fromLocation:",
    ] {
      table[name] = 2...2
    }
    return table
  }()

  /// Selector by the name without colons in small letters, for functions of at most one argument.
  private static let _byShortName: [String: String] = {
    var table: [String: String] = [:]
    for name in arity.keys where name != fetch && name.count(where: { $0 == ":" }) <= 1 {
      table[(name.hasSuffix(":") ? String(name.dropLast()) : name).lowercased()] = name
    }
    return table
  }()

  private static let _byFoldedSelector: [String: String] = Dictionary(
    uniqueKeysWithValues: arity.keys.map { ($0.lowercased(), $0) })

  /// Selector of the function called `name`: `sum`, `sum:`, `add:to:`, in any case; nil if there is none.
  package static func selector(named name: String) -> String? {
    if arity[name] != nil { return name }
    let folded = name.lowercased()
    return _byFoldedSelector[folded] ?? _byShortName[folded]
  }

  /// Function that a binary operator stands for, and how tightly the operator binds.
  static func binary(_ symbol: Symbol) -> (selector: String, power: Int)? {
    switch symbol {
    case .bitOr: ("bitwiseOr:with:", 2)
    case .bitXor: ("bitwiseXor:with:", 3)
    case .bitAnd: ("bitwiseAnd:with:", 4)
    case .shiftLeft: ("leftshift:by:", 5)
    case .shiftRight: ("rightshift:by:", 5)
    case .plus: ("add:to:", 6)
    case .minus: ("from:subtract:", 6)
    case .star: ("multiply:by:", 7)
    case .slash: ("divide:by:", 7)
    case .power: ("raise:toPower:", Power.exponent)
    default: nil
    }
  }

  /// Operator that a function is written with, and how tightly it binds.
  static func symbol(for selector: String) -> (symbol: Symbol, power: Int)? { _symbols[selector] }

  private static let _symbols: [String: (symbol: Symbol, power: Int)] = {
    var table: [String: (symbol: Symbol, power: Int)] = [:]
    let symbols: [Symbol] = [
      .bitOr, .bitXor, .bitAnd, .shiftLeft, .shiftRight, .plus, .minus, .star, .slash, .power,
    ]
    for symbol in symbols {
      if let (selector, power) = binary(symbol) { table[selector] = (symbol, power) }
    }
    return table
  }()

  /// How tightly the parts of an expression bind; larger is tighter.
  enum Power {
    static let assignment = 0
    static let sets = 1
    static let unary = 8
    static let exponent = 9
    static let primary = 10
  }
}
