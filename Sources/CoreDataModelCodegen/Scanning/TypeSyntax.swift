import CoreDataSwiftLexer

/// A type as written.
indirect enum TypeSyntax: Hashable, Sendable, CustomStringConvertible {
  struct Component: Hashable, Sendable {
    let name: String
    let arguments: [TypeSyntax]
  }

  /// `A.B<C>`.
  case named([Component])
  case optional(TypeSyntax)
  case array(TypeSyntax)
  case dictionary(TypeSyntax, TypeSyntax)
  case tuple([TypeSyntax])
  /// `any P & Q`.
  case existential([TypeSyntax])

  /// The type in Swift; an implicitly unwrapped optional shows as an optional.
  var description: String {
    switch self {
    case .named(let components):
      components.map { component in
        let isKeyword = component.name == "Any" || component.name == "Self"
        let name = isKeyword ? component.name : SwiftName.escaped(component.name)
        if component.arguments.isEmpty { return name }
        return "\(name)<\(component.arguments.map(\.description).joined(separator: ", "))>"
      }.joined(separator: ".")
    case .optional(.existential(let protocols)): "(\(TypeSyntax.existential(protocols)))?"
    case .optional(let wrapped): "\(wrapped)?"
    case .array(let element): "[\(element)]"
    case .dictionary(let key, let value): "[\(key): \(value)]"
    case .tuple(let elements): "(\(elements.map(\.description).joined(separator: ", ")))"
    case .existential(let protocols): "any \(protocols.map(\.description).joined(separator: " & "))"
    }
  }

  /// A plain name.
  static func name(_ name: String) -> TypeSyntax { .named([Component(name: name, arguments: [])]) }
}

/// Reads types from tokens.
struct TypeParser {
  /// Maximum nesting of a parsed type.
  private static let _depthLimit = 32

  private let _tokens: [SourceToken]
  private(set) var position: Int
  private var _depth = 0

  init(_ tokens: [SourceToken], at position: Int) {
    _tokens = tokens
    self.position = position
  }

  /// Parses a text that is exactly one type; nil if it is not.
  static func parse(_ text: String) -> TypeSyntax? {
    var parser = TypeParser(SourceLexer.tokens(in: text), at: 0)
    guard let type = parser.parse(), parser.position == parser._tokens.count else { return nil }
    return type
  }

  /// Parses the type at `position`; nil for one that no managed property can have, such as a function.
  mutating func parse() -> TypeSyntax? {
    _depth += 1
    defer { _depth -= 1 }
    guard _depth < Self._depthLimit else { return nil }
    guard var type = _parsePrimary() else { return nil }
    while true {
      if _consume("?") || _consume("!") {
        type = .optional(type)
      } else if _peek("&") {
        guard let composition = _parseComposition(type) else { return nil }
        type = composition
      } else {
        return type
      }
    }
  }

  private mutating func _parseComposition(_ first: TypeSyntax) -> TypeSyntax? {
    var parts: [TypeSyntax] = [first]
    while _consume("&") {
      guard let next = _parsePrimary() else { return nil }
      parts.append(next)
    }
    return .existential(parts)
  }

  private mutating func _parsePrimary() -> TypeSyntax? {
    guard position < _tokens.count else { return nil }
    if _consume("[") {
      guard let element = parse() else { return nil }
      if _consume(":") {
        guard let value = parse(), _consume("]") else { return nil }
        return .dictionary(element, value)
      }
      return _consume("]") ? .array(element) : nil
    }
    if _consume("(") { return _parseTuple() }
    let token = _tokens[position]
    if token.isKeyword("any"), position + 1 < _tokens.count, _tokens[position + 1].isName {
      position += 1
      guard let name = _parsePrimary() else { return nil }
      let whole = _peek("&") ? _parseComposition(name) : .existential([name])
      if case .existential? = whole { return whole }
      return nil
    }
    guard token.isName else { return nil }
    return _parseNamed()
  }

  private mutating func _parseTuple() -> TypeSyntax? {
    var elements: [TypeSyntax] = []
    if _consume(")") { return .tuple([]) }
    repeat {
      // Labels of tuple elements would be part of the symbol.
      guard let element = parse() else { return nil }
      elements.append(element)
    } while _consume(",")
    guard _consume(")"), !_peek("->") else { return nil }
    return elements.count == 1 ? elements[0] : .tuple(elements)
  }

  private mutating func _parseNamed() -> TypeSyntax? {
    var components: [TypeSyntax.Component] = []
    repeat {
      guard position < _tokens.count, _tokens[position].isName else { return nil }
      let name = _tokens[position].text
      position += 1
      var arguments: [TypeSyntax] = []
      if _consume("<") {
        repeat {
          guard let argument = parse() else { return nil }
          arguments.append(argument)
        } while _consume(",")
        guard _consume(">") else { return nil }
      }
      components.append(TypeSyntax.Component(name: name, arguments: arguments))
    } while _consume(".")
    // The long spellings of types that have a short one.
    if components.count == 1 || (components.count == 2 && components[0].name == "Swift") {
      let last = components[components.count - 1]
      switch (last.name, last.arguments.count) {
      case ("Optional", 1): return .optional(last.arguments[0])
      case ("Array", 1): return .array(last.arguments[0])
      case ("Dictionary", 2): return .dictionary(last.arguments[0], last.arguments[1])
      default: break
      }
    }
    return .named(components)
  }

  private func _peek(_ sign: String) -> Bool {
    position < _tokens.count && _tokens[position].isPunctuation(sign)
  }

  private mutating func _consume(_ sign: String) -> Bool {
    guard _peek(sign) else { return false }
    position += 1
    return true
  }
}
