import CoreDataSwiftLexer

extension DeclarationReader {
  /// `var` or `let` at the cursor, with all its bindings.
  mutating func _readVariable() -> VariableDeclaration {
    let keyword = cursor.current!
    cursor.index += 1
    var bindings: [VariableDeclaration.Binding] = []
    repeat {
      guard let binding = _readBinding() else { break }
      bindings.append(binding)
    } while cursor.consume(",")
    return VariableDeclaration(keyword: keyword, bindings: bindings)
  }

  private mutating func _readBinding() -> VariableDeclaration.Binding? {
    guard let first = cursor.current, first.isName || first.isPunctuation("(") else { return nil }
    let name = first.isName ? first : nil
    cursor.skip()
    var type: Range<Int>?
    if cursor.consume(":"), let start = cursor.current?.range.lowerBound {
      type = cursor.skipTerm(from: start) { $0.isSign("=") || $0.isSign("{") || $0.isSign(",") }
    }
    var value: Range<Int>?
    if cursor.consume("="), let start = cursor.current?.range.lowerBound {
      value = cursor.skipTerm(from: start) { $0.isSign(",") || $0.isAtAccessors }
    }
    var accessors = VariableDeclaration.Accessors.none
    // After a value, a brace on a new line does not belong to the variable, but it would be invalid anyway.
    if cursor.isSign("{") { accessors = _readAccessors() }
    let end = cursor.previous?.range.upperBound ?? first.range.upperBound
    return VariableDeclaration.Binding(
      name: name, type: type, value: value, accessors: accessors, range: first.range.lowerBound..<end)
  }

  private mutating func _readAccessors() -> VariableDeclaration.Accessors {
    var words = Set<String>()
    let start = cursor.index
    cursor.skip()
    let end = cursor.index
    let range = piece.tokens[start].range.lowerBound..<piece.tokens[end - 1].range.upperBound
    var probe = TokenCursor(piece, at: start + 1)
    while probe.index < end - 1, let token = probe.current {
      if token.kind == .identifier { words.insert(token.text) }
      probe.skip()
    }
    let isObserved = words.contains("willSet") || words.contains("didSet")
    return isObserved && words.isDisjoint(with: ["get", "set", "return"])
      ? .observers(range) : .computed(range)
  }
}
