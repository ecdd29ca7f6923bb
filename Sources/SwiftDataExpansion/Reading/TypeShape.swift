import CoreDataSwiftLexer

/// Derives facts from the spelling of a type, without resolving its names.
enum TypeShape {
  /// A reason why no store can keep a type.
  enum Flaw: Equatable {
    case function, tuple, existential, opaque, metatype
    /// A type of the standard library that has no value apart from its process.
    case named(String)
  }

  private static let _unsupported: Set<String> = [
    "Any", "AnyObject", "AnyClass", "AnyHashable", "AnyKeyPath", "PartialKeyPath", "KeyPath",
    "WritableKeyPath",
    "ReferenceWritableKeyPath", "UnsafePointer", "UnsafeMutablePointer", "UnsafeRawPointer",
    "UnsafeMutableRawPointer",
    "UnsafeBufferPointer", "UnsafeMutableBufferPointer", "UnsafeRawBufferPointer",
    "UnsafeMutableRawBufferPointer",
    "OpaquePointer", "ObjectIdentifier", "Task", "Never", "Void", "AnyCancellable", "ModelContext",
    "ModelContainer",
  ]

  /// Types that are always values, never models.
  private static let _values: Set<String> = [
    "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double",
    "Float",
    "TimeInterval", "String", "Character", "Date", "Data", "UUID", "URL", "Decimal",
  ]

  static func flaw(of type: Range<Int>, in piece: SyntaxPiece) -> Flaw? {
    let tokens = piece.tokens.filter { type.contains($0.range.lowerBound) }
    if tokens.contains(where: { $0.isPunctuation("->") }) { return .function }
    var previous: SourceToken?
    for (index, token) in tokens.enumerated() {
      defer { previous = token }
      if token.isPunctuation("("), _hasComma(tokens[(index + 1)...]) { return .tuple }
      if token.isPunctuation("("), index + 1 < tokens.count, tokens[index + 1].isPunctuation(")") {
        return .tuple
      }
      guard token.kind == .identifier else { continue }
      if token.text == "any", index + 1 < tokens.count, tokens[index + 1].isName { return .existential }
      if token.text == "some", index + 1 < tokens.count, tokens[index + 1].isName { return .opaque }
      let isMember = previous?.isPunctuation(".") ?? false
      if isMember, token.text == "Type" || token.text == "Protocol" { return .metatype }
      if !isMember, _unsupported.contains(token.text), !_isQualifier(index, in: tokens) {
        return .named(token.text)
      }
    }
    return nil
  }

  /// Whether the parentheses before the tokens contain a comma on their own level.
  private static func _hasComma(_ tokens: ArraySlice<SourceToken>) -> Bool {
    var depth = 0
    for token in tokens where token.kind == .punctuation {
      switch token.text {
      case "(", "[", "<": depth += 1
      case ")" where depth == 0: return false
      case ")", "]", ">": depth -= 1
      case "," where depth == 0: return true
      default: break
      }
    }
    return false
  }

  private static func _isQualifier(_ index: Int, in tokens: [SourceToken]) -> Bool {
    index + 1 < tokens.count && tokens[index + 1].isPunctuation(".")
  }

  static func isOptional(_ type: String?) -> Bool {
    guard let type else { return false }
    return type.hasSuffix("?") || type.hasSuffix("!") || type.hasPrefix("Optional<")
      || type.hasPrefix("Swift.Optional<")
  }

  /// The type as a cast can name it.
  static func castable(_ type: String) -> String { type.hasSuffix("!") ? type.dropLast() + "?" : type }

  private static func _unwrapped(_ type: String) -> Substring {
    var core = type[...]
    while let last = core.last, last == "?" || last == "!" { core = core.dropLast() }
    if core.hasPrefix("["), core.hasSuffix("]") { core = core.dropFirst().dropLast() }
    if core.hasPrefix("Foundation.") { core = core.dropFirst(11) }
    if core.hasPrefix("Swift.") { core = core.dropFirst(6) }
    return core
  }

  /// The name of the basic type of a property or its elements; nil for a type that may be a model.
  static func value(_ type: String?) -> String? {
    guard let type else { return nil }
    let core = String(_unwrapped(type))
    return _values.contains(core) ? core : nil
  }

  static func isCollection(_ type: String?) -> Bool {
    guard let type else { return false }
    return ["[", "Array<", "Set<", "Dictionary<"].contains { type.hasPrefix($0) }
  }
}
