import CoreDataPredicateLanguage

/// Translates predicate patterns to PostgreSQL regular expressions.
enum TextPattern {
  /// The combining marks that follow a letter, for a bracket expression.
  private static let _marks = CombiningMarks.bracketed { String(Character(Unicode.Scalar($0)!)) }

  private static let _special = Set("\\.*+?^$()[]{}|".unicodeScalars)

  private static func _quoted(_ scalar: Unicode.Scalar, into text: inout String) {
    if _special.contains(scalar) { text += "\\" }
    text.unicodeScalars.append(scalar)
  }

  /// Returns the expression for LIKE: `*` matches any run of characters, `?` one character with its marks,
  /// and a backslash escapes either of them or itself.
  static func expression(like pattern: String, _ options: PredicateTree.Comparison.Options) -> String {
    let folded = StringComparison.folded(pattern, options: options)
    var result = "^"
    var isEscaped = false
    for scalar in folded.unicodeScalars {
      if isEscaped {
        if scalar != "*", scalar != "?", scalar != "\\" { result += "\\\\" }
        _quoted(scalar, into: &result)
        isEscaped = false
        continue
      }
      switch scalar {
      case "\\": isEscaped = true
      case "*": result += ".*"
      case "?": result += ".[\(_marks)]*(?![\(_marks)])"
      default: _quoted(scalar, into: &result)
      }
    }
    if isEscaped { result += "\\\\" }
    return result + "$"
  }

  /// Returns the expression for MATCHES, if it means the same in ICU and PostgreSQL; otherwise nil.
  ///
  /// Supports literals, classes without nesting, groups, lookahead, alternatives, quantifiers (greedy and
  /// lazy), `\d \w \s` and their opposites, and anchors; `.` and `\b` are translated.
  static func expression(matching pattern: String) -> String? {
    var result = "^(?:"
    var rest = Substring(pattern).unicodeScalars[...]
    while let scalar = rest.popFirst() {
      switch scalar {
      case ".": result += "[^\\n\\r\u{85}\u{2028}\u{2029}]"
      case "[": guard _class(&rest, into: &result) else { return nil }
      case "\\": guard _escape(&rest, into: &result, inClass: false) else { return nil }
      case "(": guard _group(&rest, into: &result) else { return nil }
      case "{": guard _count(&rest, into: &result) else { return nil }
      case "}", "]": return nil
      case "*", "+", "?":
        result.unicodeScalars.append(scalar)
        // Only ICU has possessive quantifiers.
        if rest.first == "+" { return nil }
        if rest.first == "?" {
          result += "?"
          rest = rest.dropFirst()
        }
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + ")$"
  }

  private typealias Rest = Substring.UnicodeScalarView.SubSequence

  private static func _escape(_ rest: inout Rest, into result: inout String, inClass: Bool) -> Bool {
    guard let scalar = rest.popFirst() else { return false }
    switch scalar {
    case "d", "w", "s", "D", "W", "S", "t", "n", "r":
      if inClass, scalar.properties.isUppercase { return false }
      result += "\\"
      result.unicodeScalars.append(scalar)
    case "b":
      if inClass { return false }
      result += "\\y"
    case _ where scalar.isASCII && !scalar.properties.isAlphabetic && !("0"..."9").contains(scalar):
      result += "\\"
      result.unicodeScalars.append(scalar)
    default: return false
    }
    return true
  }

  private static func _class(_ rest: inout Rest, into result: inout String) -> Bool {
    result += "["
    if rest.first == "^" {
      result += "^"
      rest = rest.dropFirst()
    }
    var isEmpty = true
    while let scalar = rest.popFirst() {
      switch scalar {
      case "]":
        if isEmpty { return false }
        result += "]"
        return true
      case "\\": guard _escape(&rest, into: &result, inClass: true) else { return false }
      case "[", "&": return false
      case "-" where rest.first == "-" || isEmpty || rest.first == "]": return false
      default: result.unicodeScalars.append(scalar)
      }
      isEmpty = false
    }
    return false
  }

  private static func _group(_ rest: inout Rest, into result: inout String) -> Bool {
    result += "("
    guard rest.first == "?" else { return true }
    rest = rest.dropFirst()
    guard let kind = rest.popFirst(), kind == ":" || kind == "=" || kind == "!" else { return false }
    result += "?"
    result.unicodeScalars.append(kind)
    return true
  }

  /// Parses `{2}`, `{2,}` or `{2,3}`.
  private static func _count(_ rest: inout Rest, into result: inout String) -> Bool {
    var text = ""
    while let scalar = rest.popFirst() {
      if scalar == "}" {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = Int(parts[0]), first <= 255,
          parts.count == 1 || parts[1].isEmpty || (Int(parts[1]).map { $0 >= first && $0 <= 255 } ?? false)
        else { return false }
        result += "{\(text)}"
        if rest.first == "+" { return false }
        return true
      }
      text.unicodeScalars.append(scalar)
    }
    return false
  }

  /// Returns the first text after all texts with this prefix, in scalar order.
  static func end(ofPrefix text: String) -> String {
    var scalars = Array(text.unicodeScalars)
    while let last = scalars.popLast() {
      var value = last.value + 1
      if value == 0xD800 { value = 0xE000 }
      if let next = Unicode.Scalar(value) {
        var end = String.UnicodeScalarView(scalars)
        end.append(next)
        return String(end)
      }
    }
    // The prefix consists of the last scalar only.
    return String(repeating: "\u{10FFFF}", count: text.unicodeScalars.count + 64)
  }
}
