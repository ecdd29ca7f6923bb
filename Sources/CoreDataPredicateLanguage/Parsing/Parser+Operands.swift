import Foundation

/// Parses operands: literals, keys, arguments, calls and groups.
extension Parser {
  mutating func primary() throws(PredicateFormatError) -> Node {
    switch token {
    case .string(let text): return try _leaf(.constant(.string(text)))
    case .number(let value): return try _leaf(.constant(value))
    case .variable(let name): return try _variable(name)
    case .placeholder(let number):
      let isPath = lexer.placeholders[number].specifier == .keyPath
      let name = Placeholder.name(number)
      return try _leaf(isPath ? .keyPath([name]) : .variable(name))
    case .escapedWord(let name), .atWord(let name): return try _leaf(.keyPath([name]))
    case .selector(let name): return try _call(name)
    case .word(let word): return try _word(word)
    case .symbol(.openBrace): return try _aggregate()
    case .symbol(.openParenthesis):
      try advance()
      let node = try disjunction()
      guard token == .symbol(.closeParenthesis) else { throw unexpected("“)”", "an operator") }
      try advance()
      return node
    default: throw unexpected("an expression")
    }
  }

  private mutating func _leaf(_ tree: ExpressionTree) throws(PredicateFormatError) -> Node {
    try advance()
    return .expression(tree, depth: 1)
  }

  /// `$name`, or `$name := value`.
  private mutating func _variable(_ name: String) throws(PredicateFormatError) -> Node {
    try advance()
    guard token == .symbol(.assign) else { return .expression(.variable(name), depth: 1) }
    try advance()
    let (value, depth) = try expression()
    return .expression(.assignment(name, value), depth: try checked(depth + 1))
  }

  private mutating func _word(_ word: String) throws(PredicateFormatError) -> Node {
    let wordStart = start
    switch keyword {
    case "TRUE", "YES": return try _leaf(.constant(.bool(true)))
    case "FALSE", "NO": return try _leaf(.constant(.bool(false)))
    case "NULL", "NIL": return try _leaf(.constant(.null))
    case "SELF": return try _leaf(.evaluatedObject)
    case "ANYKEY": return try _leaf(.anyKey)
    case "TRUEPREDICATE", "FALSEPREDICATE":
      let value = keyword == "TRUEPREDICATE"
      try advance()
      return .predicate(.constant(value), depth: 1)
    case "AND", "OR", "NOT", "IN", "ANY", "ALL", "SOME", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH",
      "ENDSWITH", "BETWEEN", "UNION", "INTERSECT", "MINUS", "UTI-CONFORMS-TO", "UTI-EQUALS":
      throw lexer.failure(
        "found the reserved word “\(word)”", at: wordStart,
        expected: ["an expression (a key of that name is written #\(word))"])
    default: break
    }
    let reserved = keyword
    try advance()
    guard token == .symbol(.openParenthesis) else { return .expression(.keyPath([word]), depth: 1) }
    switch reserved {
    case "SUBQUERY": return try _subquery()
    case "TERNARY": return try _ternary()
    case "CAST": return try _cast()
    case "FUNCTION": return try _customFunction()
    default: return try _arguments(of: word, at: wordStart)
    }
  }

  // MARK: Calls

  /// `name:with:(arguments)`.
  private mutating func _call(_ name: String) throws(PredicateFormatError) -> Node {
    let nameStart = start
    try advance()
    guard token == .symbol(.openParenthesis) else { throw unexpected("“(” and the arguments of \(name)") }
    return try _arguments(of: name, at: nameStart)
  }

  private mutating func _arguments(
    of name: String, at nameStart: Int
  ) throws(PredicateFormatError) -> Node {
    guard let function = PredicateFunction(named: name) else {
      throw lexer.failure(
        "there is no function named “\(name)”", at: nameStart,
        expected: [
          "a predefined function such as sum, lowercase or now", "FUNCTION(target, 'selector:', …)",
        ])
    }
    try expect(.openParenthesis)
    let (arguments, depth) = try _list(until: .closeParenthesis)
    let arity = function.arity
    guard arity.contains(arguments.count) else {
      let wanted = arity.upperBound == .max ? "at least \(arity.lowerBound)" : "\(arity.lowerBound)"
      throw lexer.failure(
        "\(name) takes \(wanted) argument\(arity.lowerBound == 1 ? "" : "s"), not \(arguments.count)",
        at: nameStart)
    }
    return .expression(.function(function, arguments), depth: try checked(depth + 1))
  }

  /// Parses comma-separated expressions up to the closing symbol.
  private mutating func _list(until end: Symbol) throws(PredicateFormatError) -> ([ExpressionTree], Int) {
    var (elements, depth): ([ExpressionTree], Int) = ([], 0)
    if token != .symbol(end) {
      while true {
        let (element, elementDepth) = try expression()
        elements.append(element)
        depth = max(depth, elementDepth)
        guard token == .symbol(.comma) else { break }
        try advance()
      }
    }
    guard token == .symbol(end) else { throw unexpected("“,”", "“\(end.rawValue)”") }
    try advance()
    return (elements, depth)
  }

  /// SUBQUERY(collection, $variable, predicate).
  private mutating func _subquery() throws(PredicateFormatError) -> Node {
    try expect(.openParenthesis)
    let (collection, depth) = try expression()
    try expect(.comma)
    guard case .variable(let name) = token else { throw unexpected("a variable such as $x") }
    try advance()
    try expect(.comma)
    let node = try disjunction()
    let (predicate, predicateDepth) = try asPredicate(node)
    try expect(.closeParenthesis)
    return .expression(
      .subquery(collection, variable: name, predicate), depth: try checked(max(depth, predicateDepth) + 1))
  }

  /// TERNARY(predicate, then, else).
  private mutating func _ternary() throws(PredicateFormatError) -> Node {
    try expect(.openParenthesis)
    let node = try disjunction()
    let (predicate, depth) = try asPredicate(node)
    try expect(.comma)
    let (then, thenDepth) = try expression()
    try expect(.comma)
    let (otherwise, otherwiseDepth) = try expression()
    try expect(.closeParenthesis)
    return .expression(
      .conditional(predicate, then, otherwise),
      depth: try checked(max(depth, thenDepth, otherwiseDepth) + 1))
  }

  /// CAST(value, 'Type'); of a literal to a type without literals, the constant itself.
  private mutating func _cast() throws(PredicateFormatError) -> Node {
    try expect(.openParenthesis)
    let (value, depth) = try expression()
    try expect(.comma)
    let typeStart = start
    let (type, typeDepth) = try expression()
    try expect(.closeParenthesis)
    if case .constant(.string(let name)) = type, !ValueCast.isKnown(name) {
      throw lexer.failure("CAST to the unknown type “\(name)”", at: typeStart, expected: ValueCast.names)
    }
    if let literal = ValueCast.literal(value, type) { return .expression(.constant(literal), depth: 1) }
    return .expression(
      .function(.cast, [value, type]), depth: try checked(max(depth, typeDepth) + 1))
  }

  /// FUNCTION(target, 'selector:', arguments…).
  private mutating func _customFunction() throws(PredicateFormatError) -> Node {
    try expect(.openParenthesis)
    let (target, targetDepth) = try expression()
    try expect(.comma)
    guard case .string(let selector) = token else { throw unexpected("the selector as a string") }
    try advance()
    var (arguments, depth): ([ExpressionTree], Int) = ([], 0)
    if token == .symbol(.comma) {
      try advance()
      (arguments, depth) = try _list(until: .closeParenthesis)
    } else {
      try expect(.closeParenthesis)
    }
    return .expression(
      .customFunction(target, selector, arguments), depth: try checked(max(targetDepth, depth) + 1))
  }

  // MARK: Collections

  /// `{a, b, c}`, or a dictionary, `{"a": 1, "b": 2}` and `{:}`.
  private mutating func _aggregate() throws(PredicateFormatError) -> Node {
    try expect(.openBrace)
    if token == .symbol(.colon) {
      try advance()
      try expect(.closeBrace)
      return .expression(.constant(.dictionary([:])), depth: 1)
    }
    guard token != .symbol(.closeBrace) else { return try _leaf(.constant(.collection([]))) }
    let (first, firstDepth) = try expression()
    if token == .symbol(.colon) { return try _dictionary(firstKey: first) }
    var (elements, depth) = ([first], firstDepth)
    if token == .symbol(.comma) {
      try advance()
      let (rest, restDepth) = try _list(until: .closeBrace)
      elements += rest
      depth = max(depth, restDepth)
    } else {
      guard token == .symbol(.closeBrace) else { throw unexpected("“,”", "“}”") }
      try advance()
    }
    return .expression(.aggregate(of: elements), depth: try checked(depth + 1))
  }

  private mutating func _dictionary(firstKey: ExpressionTree) throws(PredicateFormatError) -> Node {
    var entries: [String: PredicateValue] = [:]
    var key = firstKey
    while true {
      guard case .constant(.string(let name)) = key else {
        throw lexer.failure("the keys of a dictionary are strings", at: start)
      }
      try expect(.colon)
      let valueStart = start
      guard case .constant(let value) = try expression().0 else {
        throw lexer.failure("the values of a dictionary are constants", at: valueStart)
      }
      entries[name] = value
      guard token == .symbol(.comma) else { break }
      try advance()
      key = try expression().0
    }
    guard token == .symbol(.closeBrace) else { throw unexpected("“,”", "“}”") }
    return try _leaf(.constant(.dictionary(entries)))
  }
}

extension ExpressionTree {
  /// `{a, b, c}`: a constant if all elements are.
  package static func aggregate(of elements: [ExpressionTree]) -> ExpressionTree {
    var values: [PredicateValue] = []
    values.reserveCapacity(elements.count)
    for element in elements {
      guard case .constant(let value) = element else { return .aggregate(elements) }
      values.append(value)
    }
    return .constant(.collection(values))
  }
}
