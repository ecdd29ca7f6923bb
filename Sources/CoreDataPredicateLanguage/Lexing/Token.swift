import Foundation

/// A token of the predicate language.
enum Token: Equatable, Sendable {
  case end
  /// An identifier or a reserved word, depending on its position.
  case word(String)
  /// `#size`, `#"any text"`: a name that must not be read as a reserved word.
  case escapedWord(String)
  /// `add:to:`: a function or selector name.
  case selector(String)
  /// `@count`, with its at sign.
  case atWord(String)
  /// `$name`, without its dollar.
  case variable(String)
  /// `%@`, `%K`, `%ld`…: number of the placeholder in the lexer's list.
  case placeholder(Int)
  case string(String)
  case number(PredicateValue)
  case symbol(Symbol)

  /// The name of the token in messages.
  var spelling: String {
    switch self {
    case .end: "the end of the text"
    case .word(let name): "“\(name)”"
    case .escapedWord(let name): "“#\(name)”"
    case .selector(let name), .atWord(let name): "“\(name)”"
    case .variable(let name): "“$\(name)”"
    case .placeholder: "a format argument"
    case .string(let text): "the string \"\(text.count > 30 ? text.prefix(29) + "…" : text[...])\""
    case .number(let value): "the number \(PredicatePrinter.text(of: value))"
    case .symbol(let symbol): "“\(symbol.rawValue)”"
    }
  }
}

/// Punctuation and the operators written with it.
enum Symbol: String, Sendable {
  case openParenthesis = "("
  case closeParenthesis = ")"
  case openBrace = "{"
  case closeBrace = "}"
  case openBracket = "["
  case closeBracket = "]"
  case comma = ","
  case dot = "."
  case colon = ":"
  case assign = ":="
  case plus = "+"
  case minus = "-"
  case star = "*"
  case power = "**"
  case slash = "/"
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case not = "!"
  case and = "&&"
  case or = "||"
  case bitAnd = "&"
  case bitOr = "|"
  case bitXor = "^"
  case complement = "~"
  case shiftLeft = "<<"
  case shiftRight = ">>"
}

/// Reserved words, in capitals; as names they are written with a leading `#`.
enum ReservedWords {
  static let all: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES",
    "CONTAINS",
    "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
    "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "UTI-CONFORMS-TO",
    "UTI-EQUALS", "FUNCTION", "TERNARY", "UNION", "INTERSECT", "MINUS",
  ]

  /// Whether `word`, in any case, is reserved.
  static func contains(_ word: String) -> Bool {
    word.utf8.count <= 15 && all.contains(word.uppercased())
  }
}
