/// Puts `@objc` and its kin under a condition, or takes them out.
struct AttributeEdits {
  private static let _attributes: Set<String> = [
    "objc", "objcMembers", "IBInspectable", "IBDesignable", "GKInspectable",
  ]

  private let _bytes: [UInt8]
  private let _rule: SourceAdoption.AttributeRule
  /// What ends the file's lines: that of the first.
  private let _lineEnd: String

  init(_ bytes: [UInt8], _ rule: SourceAdoption.AttributeRule) {
    _bytes = bytes
    _rule = rule
    let first = bytes.firstIndex(of: UInt8(ascii: "\n"))
    _lineEnd = first.map { $0 > 0 && bytes[$0 - 1] == UInt8(ascii: "\r") } ?? false ? "\r\n" : "\n"
  }

  func edits(_ tokens: [SourceToken]) -> [SourceAdoption.Edit] {
    var edits: [SourceAdoption.Edit] = []
    var index = 0
    while index + 1 < tokens.count {
      let (at, name) = (tokens[index], tokens[index + 1])
      index += 1
      guard at.isPunctuation("@"), name.kind == .identifier, Self._attributes.contains(name.text) else {
        continue
      }
      index += 1
      var end = name.range.upperBound
      if index < tokens.count, tokens[index].isPunctuation("("), tokens[index].range.lowerBound == end {
        while index < tokens.count, !tokens[index].isPunctuation(")") { index += 1 }
        guard index < tokens.count else { break }
        end = tokens[index].range.upperBound
        index += 1
      }
      edits.append(_edit(at.range.lowerBound..<end))
    }
    return edits
  }

  private func _edit(_ attribute: Range<Int>) -> SourceAdoption.Edit {
    var lineStart = attribute.lowerBound
    while lineStart > 0, _bytes[lineStart - 1] != UInt8(ascii: "\n") { lineStart -= 1 }
    var contentStart = lineStart
    while contentStart < attribute.lowerBound, _isBlank(_bytes[contentStart]) { contentStart += 1 }
    let indentation = String(decoding: _bytes[lineStart..<contentStart], as: UTF8.self)
    var after = attribute.upperBound
    while after < _bytes.count, _isBlank(_bytes[after]) { after += 1 }
    let endsLine =
      after >= _bytes.count || _bytes[after] == UInt8(ascii: "\n") || _bytes[after] == UInt8(ascii: "\r")
    let isFirst = contentStart == attribute.lowerBound
    switch _rule {
    case .strip:
      // A line of its own goes whole.
      if isFirst, endsLine {
        while after < _bytes.count, _bytes[after] != UInt8(ascii: "\n") { after += 1 }
        return SourceAdoption.Edit(range: lineStart..<min(after + 1, _bytes.count), text: "")
      }
      return SourceAdoption.Edit(range: attribute.lowerBound..<after, text: "")
    case .guard:
      let text = String(decoding: _bytes[attribute], as: UTF8.self)
      let newLine = _lineEnd + indentation
      let lead = isFirst ? "" : newLine
      let tail = endsLine ? "" : newLine
      let block = "\(lead)#if canImport(ObjectiveC)\(newLine)\(text)\(newLine)#endif\(tail)"
      return SourceAdoption.Edit(
        range: attribute.lowerBound..<(endsLine ? attribute.upperBound : after), text: block)
    }
  }

  private func _isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

/// Replaces `#keyPath(Book.author.name)` by the string that it is.
enum KeyPathEdits {
  static func edits(_ tokens: [SourceToken]) -> [SourceAdoption.Edit] {
    var edits: [SourceAdoption.Edit] = []
    for (index, token) in tokens.enumerated() where token.kind == .directive && token.text == "#keyPath" {
      var position = index + 1
      guard position < tokens.count, tokens[position].isPunctuation("(") else { continue }
      position += 1
      var names: [String] = []
      while position < tokens.count, !tokens[position].isPunctuation(")") {
        if tokens[position].isName { names.append(tokens[position].text) }
        position += 1
      }
      guard position < tokens.count, !names.isEmpty else { continue }
      // Types lead the way; properties begin with a small letter.
      let path = names.drop { $0.first?.isUppercase ?? false || $0 == "self" }
      guard !path.isEmpty else { continue }
      let text = SourceText.literal(path.joined(separator: "."))
      edits.append(
        SourceAdoption.Edit(range: token.range.lowerBound..<tokens[position].range.upperBound, text: text))
    }
    return edits
  }
}
