/// Writes XML with four spaces per level, like Xcode's model files.
struct XMLText {
  private(set) var text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
  private var _level = 0

  /// Writes an empty element; omits attributes without value.
  mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String?>) {
    element(name, attributes) { _ in }
  }

  /// Writes an element with content.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String?>, _ content: (inout XMLText) throws -> Void
  ) rethrows {
    let indent = String(repeating: " ", count: _level * 4)
    text += "\(indent)<\(name)"
    for (attribute, value) in attributes {
      guard let value else { continue }
      text += " \(attribute)=\"\(Self._escaped(value))\""
    }
    var body = self
    body.text = ""
    body._level += 1
    try content(&body)
    if body.text.isEmpty {
      text += "/>\n"
    } else {
      text += ">\n\(body.text)\(indent)</\(name)>\n"
    }
  }

  private static func _escaped(_ value: String) -> String {
    var escaped = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\n", "\r", "\t": escaped += "&#\(scalar.value);"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Whether XML can represent the text.
  static func canHold(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
      default: false
      }
    }
  }
}
