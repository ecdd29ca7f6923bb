/// Operators between expressions and paths behind them.
extension Parser {
  /// An expression and its depth.
  mutating func expression() throws(PredicateFormatError) -> (ExpressionTree, Int) {
    try operand(atLeast: PredicateFunction.Power.assignment)
  }

  /// An expression whose operators bind at least as tightly as `power`.
  mutating func operand(atLeast power: Int) throws(PredicateFormatError) -> (ExpressionTree, Int) {
    let before = start
    guard case .expression(let tree, let depth) = try expressionNode(atLeast: power) else {
      throw lexer.failure(
        "a predicate stands where a value is needed", at: before, expected: ["an expression"])
    }
    return (tree, depth)
  }

  /// An expression, or a predicate in parentheses.
  mutating func expressionNode(atLeast power: Int) throws(PredicateFormatError) -> Node {
    try enter()
    defer { leave() }
    let first = try _signed()
    guard case .expression(var left, var depth) = first else { return first }
    while let binary = _binaryOperator(), binary.power >= power {
      try advance()
      let isRightAssociative = binary.power == PredicateFunction.Power.exponent
      let (right, rightDepth) = try operand(atLeast: isRightAssociative ? binary.power : binary.power + 1)
      left = binary.make(left, right)
      depth = try checked(max(depth, rightDepth) + 1)
    }
    return .expression(left, depth: depth)
  }

  private typealias _Binary = (power: Int, make: (ExpressionTree, ExpressionTree) -> ExpressionTree)

  private func _binaryOperator() -> _Binary? {
    switch token {
    case .symbol(let symbol):
      guard let (function, power) = PredicateFunction.infix(symbol) else { return nil }
      return (power, { .function(function, [$0, $1]) })
    case .word:
      switch keyword {
      case "UNION": return (PredicateFunction.Power.sets, { .set(.union, $0, $1) })
      case "INTERSECT": return (PredicateFunction.Power.sets, { .set(.intersect, $0, $1) })
      case "MINUS": return (PredicateFunction.Power.sets, { .set(.minus, $0, $1) })
      default: return nil
      }
    default: return nil
    }
  }

  private mutating func _signed() throws(PredicateFormatError) -> Node {
    switch token {
    case .symbol(.minus):
      try advance()
      let (tree, depth) = try operand(atLeast: PredicateFunction.Power.unary)
      if case .constant(let value) = tree, let negative = value.negated {
        return .expression(.constant(negative), depth: depth)
      }
      let negated = ExpressionTree.function(.subtract, [.constant(.int(0)), tree])
      return .expression(negated, depth: try checked(depth + 1))
    case .symbol(.complement):
      try advance()
      let (tree, depth) = try operand(atLeast: PredicateFunction.Power.unary)
      return .expression(.function(.onesComplement, [tree]), depth: try checked(depth + 1))
    default:
      return try _postfixed()
    }
  }

  /// A primary with the paths and indexes behind it.
  private mutating func _postfixed() throws(PredicateFormatError) -> Node {
    let first = try primary()
    guard case .expression(var tree, var depth) = first else { return first }
    while true {
      switch token {
      case .symbol(.dot):
        try advance()
        tree = Self._appending(try _component(), to: tree)
        depth = try checked(depth + 1)
      case .symbol(.openBracket):
        try advance()
        let (index, indexDepth) = try _index()
        try expect(.closeBracket)
        tree = .function(.element, [tree, index])
        depth = try checked(max(depth, indexDepth) + 1)
      default:
        return .expression(tree, depth: depth)
      }
    }
  }

  /// A name in a path; after a dot no word is reserved.
  private mutating func _component() throws(PredicateFormatError) -> String {
    let name: String
    switch token {
    case .word(let word), .escapedWord(let word), .atWord(let word): name = word
    case .placeholder(let number) where lexer.placeholders[number].specifier == .keyPath:
      name = Placeholder.name(number)
    default: throw unexpected("a key", "a collection operator such as @count")
    }
    try advance()
    return name
  }

  private mutating func _index() throws(PredicateFormatError) -> (ExpressionTree, Int) {
    if let symbol = keyword.flatMap({ PredicateFunction(rawValue: $0) }), symbol.isIndexSymbol {
      try advance()
      return (.function(symbol, []), 1)
    }
    return try expression()
  }

  private static func _appending(_ component: String, to tree: ExpressionTree) -> ExpressionTree {
    switch tree {
    case .evaluatedObject: .keyPath([component])
    case .keyPath(let path): .keyPath(path + [component])
    case .keyPathOf(let base, let path): .keyPathOf(base, path + [component])
    default: .keyPathOf(tree, [component])
    }
  }
}

extension PredicateValue {
  /// The negated number; nil if it is not a number.
  var negated: PredicateValue? {
    switch self {
    case .int(let value):
      let (result, overflow) = Int64(0).subtractingReportingOverflow(value)
      return overflow ? nil : .int(result)
    case .double(let value): return .double(-value)
    case .decimal(let value): return PredicateValue(integerOr: -value)
    default: return nil
    }
  }
}
