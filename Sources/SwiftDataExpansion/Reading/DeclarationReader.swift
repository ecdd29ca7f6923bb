import CoreDataSwiftLexer

/// Reads declarations from source: heads, names, types and initial values, as ranges of the text.
///
/// It skips bodies and never fails; errors in the source are left to the compiler.
struct DeclarationReader {
  let piece: SyntaxPiece
  var cursor: TokenCursor

  init(_ piece: SyntaxPiece) {
    self.piece = piece
    cursor = TokenCursor(piece)
  }

  /// The type that the source declares; nil if it declares something else.
  mutating func type() -> TypeDeclaration? {
    let head = readHead()
    guard let keyword = cursor.current, keyword.kind == .identifier, Keywords.types.contains(keyword.text)
    else {
      return nil
    }
    cursor.index += 1
    guard let name = cursor.current, name.isName else { return nil }
    cursor.index += 1
    let generics = cursor.skipGenericArguments()
    let inherited = _readInherited()
    while cursor.current != nil, !cursor.isSign("{") { cursor.skip() }
    let start = cursor.current?.range.upperBound ?? piece.bytes.count
    cursor.index += 1
    let members = _readMembers()
    let end = cursor.current?.range.lowerBound ?? piece.bytes.count
    return TypeDeclaration(
      head: head, keyword: keyword, name: name, genericParameters: generics, inherited: inherited,
      members: members,
      body: start..<max(start, end))
  }

  /// The one member in the source.
  mutating func member() -> MemberDeclaration? { cursor.current == nil ? nil : _readMember() }

  /// The freestanding macro in the source.
  mutating func macroUse() -> MacroUse? {
    guard cursor.current?.kind == .directive else { return nil }
    return _readMacroUse()
  }

  private mutating func _readInherited() -> [TypeDeclaration.Inherited] {
    guard cursor.consume(":") else { return [] }
    var inherited: [TypeDeclaration.Inherited] = []
    repeat {
      while cursor.isSign("@") { _ = _readAttribute() }
      while let word = cursor.current, word.isKeyword("nonisolated") || word.isKeyword("any") {
        cursor.index += 1
      }
      guard let first = cursor.current, first.isName else { break }
      let start = cursor.index
      while let token = cursor.current, token.isName || token.isPunctuation(".") || token.isPunctuation("&") {
        if token.isKeyword("where") { break }
        cursor.index += 1
        _ = cursor.skipGenericArguments()
      }
      guard cursor.index > start, let last = cursor.previous else { break }
      let range = first.range.lowerBound..<last.range.upperBound
      inherited.append(TypeDeclaration.Inherited(name: piece.text(range), range: range))
    } while cursor.consume(",")
    return inherited
  }

  private mutating func _readMembers() -> [MemberDeclaration] {
    var members: [MemberDeclaration] = []
    var branches: [ConditionalBranch] = []
    while let token = cursor.current, !token.isPunctuation("}") {
      if token.kind == .directive, ["#if", "#elseif", "#else", "#endif"].contains(token.text) {
        _readCondition(&branches)
        continue
      }
      let start = cursor.index
      if var member = _readMember() {
        member.branches = branches
        members.append(member)
      }
      if cursor.index == start { cursor.index += 1 }
    }
    return members
  }

  private mutating func _readCondition(_ branches: inout [ConditionalBranch]) {
    guard let directive = cursor.current else { return }
    var last = directive
    cursor.index += 1
    while let token = cursor.current, !cursor.isAtLineStart {
      last = token
      cursor.index += 1
    }
    let line = piece.text(directive.range.lowerBound..<last.range.upperBound)
    switch directive.text {
    case "#if": branches.append(ConditionalBranch(lines: [line]))
    case "#endif": _ = branches.popLast()
    default:
      guard !branches.isEmpty else { return }
      branches[branches.count - 1].lines.append(line)
    }
  }

  private mutating func _readMember() -> MemberDeclaration? {
    while cursor.consume(";") {}
    guard let first = cursor.current else { return nil }
    let head = readHead()
    guard let word = cursor.current else { return nil }
    let kind: MemberDeclaration.Kind
    switch (word.kind, word.text) {
    case (.directive, _): kind = .macro(_readMacroUse())
    case (.identifier, "var"), (.identifier, "let"): kind = .variable(_readVariable())
    case (.identifier, "init"): kind = .initializer(_readInitializer())
    case (.identifier, _) where Keywords.declarations.contains(word.text):
      cursor.index += 1
      let name = cursor.current
      _skipToEnd()
      kind = .other(keyword: word, name: name)
    default:
      cursor.skip()
      kind = .other(keyword: nil, name: nil)
    }
    guard let last = cursor.previous else { return nil }
    let range = first.range.lowerBound..<max(first.range.lowerBound, last.range.upperBound)
    return MemberDeclaration(head: head, kind: kind, range: range)
  }

  /// Skips the body of a declaration, or the rest of its last line if it has none.
  private mutating func _skipToEnd() {
    while let token = cursor.current {
      if token.isPunctuation("}") || token.isPunctuation(";") { return }
      if token.isPunctuation("{") {
        cursor.skip()
        return
      }
      if cursor.isAtLineStart, cursor.isAtDeclaration || token.kind == .directive { return }
      cursor.skip()
    }
  }

  private mutating func _readMacroUse() -> MacroUse {
    let start = cursor.current?.range.lowerBound ?? 0
    var name = String(cursor.current?.text.dropFirst() ?? "")
    cursor.index += 1
    while cursor.isSign("."), let part = cursor.peek(1), part.isName {
      name = part.text
      cursor.index += 2
    }
    let generics = cursor.skipGenericArguments()
    let arguments = cursor.isSign("(") ? readArguments() : nil
    if cursor.isSign("{"), !cursor.isAtLineStart { cursor.skip() }
    let end = cursor.previous?.range.upperBound ?? start
    return MacroUse(
      name: name, genericArguments: generics, arguments: arguments, range: start..<max(start, end))
  }

  private mutating func _readInitializer() -> InitializerDeclaration {
    let keyword = cursor.current!
    cursor.index += 1
    while cursor.isSign("?") || cursor.isSign("!") { cursor.index += 1 }
    _ = cursor.skipGenericArguments()
    let labels = cursor.isSign("(") ? readArguments().arguments.map { $0.label ?? "_" } : []
    _skipToEnd()
    return InitializerDeclaration(keyword: keyword, labels: labels)
  }
}
