extension JSONValue {
  /// The value on one line, without whitespace.
  package var text: String {
    var text = ""
    _write(to: &text)
    return text
  }

  private func _write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .boolean(let flag): text += flag ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let string): text += Self.quoted(string)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element._write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        text += Self.quoted(member.name) + ":"
        member.value._write(to: &text)
      }
      text += "}"
    }
  }

  /// A string in quotes, with the necessary escapes.
  package static func quoted(_ string: String) -> String {
    var result = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let hex = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension JSONValue {
  /// An object of members in the order given.
  package static func members(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(members.map { Member(name: $0.0, value: $0.1) })
  }

  package static func integer(_ integer: Int) -> JSONValue { .number(String(integer)) }

  /// The value of the member with that name; nil if it is missing, or the value is not an object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The string, if it is one.
  package var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }

  /// The whole number, if it is one.
  package var integer: Int? {
    guard case .number(let digits) = self else { return nil }
    return Int(digits)
  }
}
