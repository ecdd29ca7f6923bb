import CoreDataSwiftLexer

/// Puts `@objc` and related attributes under a condition, or removes them.
struct AttributeEdits {
  private static let _attributes: Set<String> = [
    "objc", "objcMembers", "IBInspectable", "IBDesignable", "GKInspectable",
  ]

  private let _bytes: [UInt8]
  private let _rule: SourceAdoption.AttributeRule
  private let _lineEnd: String

  init(_ bytes: [UInt8], _ rule: SourceAdoption.AttributeRule, lineEnd: String) {
    _bytes = bytes
    _rule = rule
    _lineEnd = lineEnd
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
      // Removes the whole line if it holds only the attribute.
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
