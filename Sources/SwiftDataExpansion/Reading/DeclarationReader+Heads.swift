import CoreDataSwiftLexer

extension DeclarationReader {
  /// Attributes and modifiers before a declaration's keyword.
  mutating func readHead() -> DeclarationHead {
    var head = DeclarationHead()
    while let token = cursor.current {
      if token.isPunctuation("@") {
        guard let attribute = _readAttribute() else { break }
        head.attributes.append(attribute)
      } else if let modifier = _readModifier(token) {
        head.modifiers.append(modifier)
      } else {
        break
      }
    }
    return head
  }

  mutating func _readAttribute() -> AttributeSyntax? {
    guard let sign = cursor.current, var name = cursor.peek(1), name.isName else {
      cursor.index += 1
      return nil
    }
    cursor.index += 2
    while cursor.isSign("."), let part = cursor.peek(1), part.isName {
      name = part
      cursor.index += 2
    }
    if cursor.isSign("<"), cursor.isAttached { _ = cursor.skipGenericArguments() }
    let arguments = cursor.isSign("(") && cursor.isAttached ? readArguments() : nil
    let end = cursor.previous?.range.upperBound ?? name.range.upperBound
    return AttributeSyntax(name: name.text, range: sign.range.lowerBound..<end, arguments: arguments)
  }

  private mutating func _readModifier(_ token: SourceToken) -> ModifierSyntax? {
    guard token.kind == .identifier else { return nil }
    if token.text == "class" {
      // Before a member it means static.
      guard let next = cursor.peek(1), next.kind == .identifier,
        ["func", "var", "let", "subscript"].contains(next.text) || Keywords.modifiers.contains(next.text)
      else { return nil }
    } else if !Keywords.modifiers.contains(token.text) {
      return nil
    }
    cursor.index += 1
    guard cursor.isSign("(") else { return ModifierSyntax(name: token.text, detail: nil, range: token.range) }
    let detail = cursor.peek(1)?.text
    cursor.skip()
    let end = cursor.previous?.range.upperBound ?? token.range.upperBound
    return ModifierSyntax(name: token.text, detail: detail, range: token.range.lowerBound..<end)
  }

  /// The arguments between the parentheses that begin at the cursor.
  mutating func readArguments() -> ArgumentList {
    let start = cursor.current?.range.upperBound ?? piece.bytes.count
    cursor.index += 1
    var arguments: [ArgumentList.Argument] = []
    while let first = cursor.current, !first.isPunctuation(")") {
      var label: String?
      if first.isName, cursor.isSign(":", ahead: 1) {
        label = first.text
        cursor.index += 2
      } else if first.isName, cursor.peek(1)?.isName ?? false, cursor.isSign(":", ahead: 2) {
        // A parameter with a label and a name.
        label = first.text
        cursor.index += 3
      }
      let value = cursor.index
      while let token = cursor.current, !token.isPunctuation(","), !token.isPunctuation(")"),
        !token.isPunctuation("}")
      {
        if token.isPunctuation("<"), cursor.isAttached, cursor.skipGenericArguments() != nil { continue }
        cursor.skip()
      }
      if cursor.index > value, let last = cursor.previous {
        let tokens = piece.tokens[value..<cursor.index]
        let start = piece.tokens[value].range.lowerBound
        arguments.append(
          ArgumentList.Argument(
            label: label, range: first.range.lowerBound..<last.range.upperBound,
            value: start..<last.range.upperBound,
            tokens: Array(tokens)))
      }
      guard cursor.consume(",") else { break }
    }
    let end = cursor.current?.range.lowerBound ?? piece.bytes.count
    _ = cursor.consume(")")
    return ArgumentList(arguments: arguments, range: start..<max(start, end))
  }
}
