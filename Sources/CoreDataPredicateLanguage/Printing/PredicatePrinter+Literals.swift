import Foundation

/// Constants and names as the language writes them.
extension PredicatePrinter {
  static func write(_ value: PredicateValue, to text: inout String) {
    switch value {
    case .null: text += "nil"
    case .bool(let flag): text += flag ? "TRUE" : "FALSE"
    case .int(let number): text += String(number)
    case .double(let number): text += number.isFinite ? String(number) : "CAST(\"\(number)\", \"NSNumber\")"
    case .decimal(let number): text += "CAST(\"\(number)\", \"NSDecimalNumber\")"
    case .string(let string): _writeQuoted(string, to: &text)
    case .date(let seconds): _writeDate(seconds, to: &text)
    case .data(let data): text += "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
    case .uuid(let uuid): text += uuid.uuidString
    case .url(let url):
      text += "CAST("
      _writeQuoted(url.absoluteString, to: &text)
      text += ", \"NSURL\")"
    case .object(let object): text += "<\(String(describing: object.wrapped))>"
    case .collection(let elements):
      text += "{"
      for (index, element) in elements.enumerated() {
        if index > 0 { text += ", " }
        write(element, to: &text)
      }
      text += "}"
    case .dictionary(let entries): _write(entries, to: &text)
    }
  }

  private static func _writeDate(_ seconds: Double, to text: inout String) {
    text += "CAST("
    // A date that is not finite is written as text, which the parser converts to a number and then to a date.
    write(seconds.isFinite ? .double(seconds) : .string("\(seconds)"), to: &text)
    text += ", \"NSDate\")"
  }

  private static func _write(_ entries: [String: PredicateValue], to text: inout String) {
    guard !entries.isEmpty else {
      text += "{:}"
      return
    }
    text += "{"
    for (index, entry) in entries.sorted(by: { $0.key < $1.key }).enumerated() {
      if index > 0 { text += ", " }
      _writeQuoted(entry.key, to: &text)
      text += ": "
      write(entry.value, to: &text)
    }
    text += "}"
  }

  private static func _writeQuoted(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  /// Writes a key of a path: unchanged, after `#` if it is a reserved word, quoted after `#` if it is not a
  /// word.
  static func _writeKey(_ key: String, to text: inout String) {
    let name = key.hasPrefix("@") ? key.dropFirst() : key[...]
    guard _isWord(name) else {
      text += "#"
      _writeQuoted(key, to: &text)
      return
    }
    if ReservedWords.contains(key) { text += "#" }
    text += key
  }

  private static func _isWord(_ name: Substring) -> Bool {
    guard let first = name.unicodeScalars.first else { return false }
    guard first == "_" || first.properties.isXIDStart || first.properties.isEmojiPresentation else {
      return false
    }
    return name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue || $0.properties.isEmojiPresentation }
  }
}
