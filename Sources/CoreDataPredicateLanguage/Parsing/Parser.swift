/// Parses the predicate language in one pass, with one token of lookahead and bounded depth.
///
/// A single precedence ladder parses both predicates and expressions, because an opening parenthesis may
/// start either: OR, AND, NOT, comparison, set operators, bits, shifts, sums, products, sign, power, path.
struct Parser {
  /// Maximum nesting of parentheses and operators, so that code may traverse a tree recursively.
  static let maximumDepth = 200

  /// The result of a rung of the ladder.
  enum Node {
    case expression(ExpressionTree, depth: Int)
    case predicate(PredicateTree, depth: Int)

    var depth: Int {
      switch self {
      case .expression(_, let depth), .predicate(_, let depth): depth
      }
    }
  }

  var lexer: Lexer
  var token = Token.end
  /// The start of `token`.
  var start = 0
  /// Number of rungs entered and not yet left.
  var nesting = 0

  init(_ text: String) throws(PredicateFormatError) {
    lexer = Lexer(text)
    try advance()
  }

  /// Parses the predicate in `text`, with placeholders for format arguments.
  static func predicate(
    _ text: String
  ) throws(PredicateFormatError) -> (tree: PredicateTree, placeholders: [Placeholder]) {
    var parser = try Parser(text)
    guard parser.token != .end else { throw parser.unexpected("a predicate") }
    let tree = try parser.predicate()
    guard parser.token == .end else { throw parser.unexpected("AND", "OR", "the end of the text") }
    return (tree, parser.lexer.placeholders)
  }

  /// Parses the expression in `text`, with placeholders for format arguments.
  static func expression(
    _ text: String
  ) throws(PredicateFormatError) -> (tree: ExpressionTree, placeholders: [Placeholder]) {
    var parser = try Parser(text)
    guard parser.token != .end else { throw parser.unexpected("an expression") }
    let (tree, _) = try parser.expression()
    guard parser.token == .end else { throw parser.unexpected("an operator", "the end of the text") }
    return (tree, parser.lexer.placeholders)
  }

  // MARK: Tokens

  mutating func advance() throws(PredicateFormatError) {
    (token, start) = try lexer.next()
  }

  func unexpected(_ expected: String...) -> PredicateFormatError {
    lexer.failure("found \(token.spelling)", at: start, expected: expected)
  }

  mutating func expect(_ symbol: Symbol) throws(PredicateFormatError) {
    guard token == .symbol(symbol) else { throw unexpected("“\(symbol.rawValue)”") }
    try advance()
  }

  /// The current reserved word in capitals; nil if the token is not a word.
  var keyword: String? {
    guard case .word(let word) = token, ReservedWords.contains(word) else { return nil }
    return word.uppercased()
  }

  /// Rejects a tree that is too deep to traverse safely.
  func checked(_ depth: Int) throws(PredicateFormatError) -> Int {
    guard depth <= Self.maximumDepth else {
      throw lexer.failure("the format nests deeper than \(Self.maximumDepth) levels", at: start)
    }
    return depth
  }

  mutating func enter() throws(PredicateFormatError) {
    nesting += 1
    _ = try checked(nesting)
  }

  mutating func leave() { nesting -= 1 }

  // MARK: Compounds

  mutating func predicate() throws(PredicateFormatError) -> PredicateTree {
    let node = try disjunction()
    return try asPredicate(node).tree
  }

  /// a OR b OR c.
  mutating func disjunction() throws(PredicateFormatError) -> Node {
    let first = try _conjunction()
    guard token == .symbol(.or) || keyword == "OR" else { return first }
    var (members, depth) = try _members(first)
    while token == .symbol(.or) || keyword == "OR" {
      try advance()
      let node = try _conjunction()
      let next = try asPredicate(node)
      members.append(next.tree)
      depth = max(depth, next.depth)
    }
    return .predicate(.or(members), depth: try checked(depth + 1))
  }

  /// a AND b AND c.
  private mutating func _conjunction() throws(PredicateFormatError) -> Node {
    let first = try _negation()
    guard token == .symbol(.and) || keyword == "AND" else { return first }
    var (members, depth) = try _members(first)
    while token == .symbol(.and) || keyword == "AND" {
      try advance()
      let node = try _negation()
      let next = try asPredicate(node)
      members.append(next.tree)
      depth = max(depth, next.depth)
    }
    return .predicate(.and(members), depth: try checked(depth + 1))
  }

  private func _members(_ first: Node) throws(PredicateFormatError) -> ([PredicateTree], Int) {
    let (tree, depth) = try asPredicate(first)
    return ([tree], depth)
  }

  private mutating func _negation() throws(PredicateFormatError) -> Node {
    guard token == .symbol(.not) || keyword == "NOT" else { return try _comparison() }
    try enter()
    defer { leave() }
    try advance()
    let node = try _negation()
    let (tree, depth) = try asPredicate(node)
    return .predicate(.not(tree), depth: try checked(depth + 1))
  }

  // MARK: Comparisons

  private mutating func _comparison() throws(PredicateFormatError) -> Node {
    var modifier = PredicateTree.Comparison.Modifier.direct
    var isNone = false
    switch keyword {
    case "ANY", "SOME": modifier = .any
    case "NONE":
      modifier = .any
      isNone = true
    case "ALL": modifier = .all
    default: break
    }
    if modifier != .direct { try advance() }
    let node = try expressionNode(atLeast: PredicateFunction.Power.assignment)
    guard case .expression(let left, let leftDepth) = node else {
      guard modifier == .direct else {
        throw lexer.failure("ANY, ALL and NONE stand before an expression", at: start)
      }
      return node
    }
    let isNegated = keyword == "NOT"
    if isNegated { try advance() }
    guard let (op, selector) = try _operator() else {
      if isNegated { throw unexpected("IN", "CONTAINS", "BEGINSWITH", "another operator") }
      guard modifier != .direct else { return node }
      let (tree, depth) = try asPredicate(node)
      guard case .comparison(var comparison) = tree else { return .predicate(tree, depth: depth) }
      comparison.modifier = modifier
      return .predicate(isNone ? .not(.comparison(comparison)) : .comparison(comparison), depth: depth + 1)
    }
    let options = try _options()
    let (right, rightDepth) = try expression()
    let comparison = PredicateTree.Comparison(
      left, op, right, modifier: modifier, options: options, selector: selector)
    var tree = PredicateTree.comparison(comparison)
    if isNone { tree = .not(tree) }
    if isNegated { tree = .not(tree) }
    return .predicate(tree, depth: try checked(max(leftDepth, rightDepth) + 3))
  }

  /// Consumes the current comparison operator; nil if there is none.
  private mutating func _operator()
    throws(PredicateFormatError) -> (PredicateTree.Comparison.Operator, selector: String?)?
  {
    var op: PredicateTree.Comparison.Operator
    var selector: String?
    switch token {
    case .symbol(.equal): op = .equal
    case .symbol(.notEqual): op = .notEqual
    case .symbol(.less): op = .lessThan
    case .symbol(.lessOrEqual): op = .lessThanOrEqual
    case .symbol(.greater): op = .greaterThan
    case .symbol(.greaterOrEqual): op = .greaterThanOrEqual
    case .selector(let name):
      op = .customSelector
      selector = name
    case .word:
      switch keyword {
      case "IN": op = .in
      case "CONTAINS": op = .contains
      case "BEGINSWITH": op = .beginsWith
      case "ENDSWITH": op = .endsWith
      case "LIKE": op = .like
      case "MATCHES": op = .matches
      case "BETWEEN": op = .between
      case let word? where word.hasPrefix("UTI-"):
        op = .customSelector
        selector = word
      default: return nil
      }
    default: return nil
    }
    try advance()
    return (op, selector)
  }

  /// `[cdnl]` after an operator.
  private mutating func _options() throws(PredicateFormatError) -> PredicateTree.Comparison.Options {
    guard token == .symbol(.openBracket) else { return [] }
    try advance()
    guard case .word(let letters) = token else { throw unexpected("the options c, d, n or l") }
    var options: PredicateTree.Comparison.Options = []
    for letter in letters.lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      case "l": options.insert(.localeSensitive)
      default:
        throw lexer.failure(
          "“\(letter)” is not a string option", at: start, expected: ["c", "d", "n", "l"])
      }
    }
    try advance()
    try expect(.closeBracket)
    return options
  }

  /// Converts a node to a predicate: a lone expression, such as `hidden`, means `hidden == TRUE`.
  func asPredicate(_ node: Node) throws(PredicateFormatError) -> (tree: PredicateTree, depth: Int) {
    switch node {
    case .predicate(let tree, let depth): return (tree, depth)
    case .expression(let tree, let depth):
      switch tree {
      case .keyPath, .keyPathOf, .variable, .customFunction, .conditional, .constant(.bool),
        .function(.element, _), .function(.cast, _):
        return (.comparison(.init(tree, .equal, .constant(.bool(true)))), depth + 1)
      default:
        throw unexpected("a comparison operator such as ==, <, IN or CONTAINS")
      }
    }
  }
}
