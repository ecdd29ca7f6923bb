/// Words in a row, for messages.
enum Enumeration {
  /// `'a', 'b' and 'c'`.
  static func text(_ words: [String]) -> String {
    guard words.count > 1, let last = words.last else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " and " + last
  }
}

/// Kinds of types in messages.
enum TypeKind {
  /// `a struct`, `an enum`.
  static func phrase(_ keyword: String) -> String {
    ["enum", "actor", "extension"].contains(keyword) ? "an \(keyword)" : "a \(keyword)"
  }
}
