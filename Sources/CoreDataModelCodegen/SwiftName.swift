/// Validates and escapes names for Swift source.
enum SwiftName {
  /// Whether the compiler accepts `name` as an identifier, in backticks if necessary.
  ///
  /// Names come from model files; any other text must not be written into source, where it could inject code.
  static func isIdentifier(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, !first.properties.numericType._isSome, name != "_" else {
      return false
    }
    return name.unicodeScalars.allSatisfy { scalar in
      scalar == "_" || scalar.properties.isXIDContinue
    }
  }

  /// The name, in backticks if it is a keyword.
  static func escaped(_ name: String) -> String { _keywords.contains(name) ? "`\(name)`" : name }

  private static let _keywords: Set<String> = [
    "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit",
    "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import",
    "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
    "protocol",
    "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw",
    "throws", "true", "try", "typealias", "var", "where", "while", "Type", "Protocol",
  ]

  /// The name with a capital first letter, as in `addToBooks`.
  static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}

extension Optional {
  fileprivate var _isSome: Bool { self != nil }
}
