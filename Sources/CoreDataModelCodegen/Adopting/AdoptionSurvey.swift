import CoreDataSwiftLexer

/// Facts about all files of a package that adoption needs before it changes any of them.
package struct AdoptionSurvey: Sendable {
  /// Modules of the package itself, which must not be mistaken for others with the same name.
  package var ownModules: Set<String> = []
  /// Names of methods and properties that some class overrides.
  private(set) var overridden: Set<String> = []
  /// Superclasses and protocols by type, of all declarations and extensions.
  private(set) var inheritance: [String: Set<String>] = [:]
  private var _declared: Set<String> = []
  private(set) var protocols: Set<String> = []
  private var _functions: Set<String> = []
  /// The packages of the files.
  var packages: [PackageManifest] = []

  package init() {}

  /// Adds a file.
  package mutating func add(_ source: String) {
    let tokens = ConditionalBlocks.active(SourceLexer.tokens(in: source))
    for (index, token) in tokens.enumerated() where token.kind == .identifier {
      switch token.text {
      case "func": if index + 1 < tokens.count { _functions.insert(tokens[index + 1].text) }
      case "override": if let name = Self._member(after: index, in: tokens) { overridden.insert(name) }
      case "class", "struct", "enum", "protocol", "extension", "actor", "typealias":
        guard let head = TypeHead(at: index, in: tokens) else { continue }
        inheritance[head.name, default: []].formUnion(head.inherited)
        if token.text != "extension" { _declared.insert(head.name) }
        if token.text == "protocol" { protocols.insert(head.name) }
      default: break
      }
    }
  }

  /// Whether the package declares a type of this name.
  func declares(_ name: String) -> Bool { _declared.contains(name) }

  /// Whether the package declares a function of this name.
  func declaresFunction(_ name: String) -> Bool { _functions.contains(name) }

  /// The target of a file, if its package says which plugins it uses and CoreDataModelPlugin is none of them.
  func targetWithoutPlugin(_ path: String) -> String? {
    packages.lazy.compactMap { $0.target(of: path) }.first.flatMap { $0.usesModelPlugin ? nil : $0.name }
  }

  /// Whether a type inherits from one of the given types, according to the package's files.
  func type(_ name: String, inheritsFrom wanted: Set<String>) -> Bool {
    var seen: Set<String> = []
    var open = [name]
    while let next = open.popLast() {
      if wanted.contains(next) { return true }
      guard seen.insert(next).inserted else { continue }
      open += inheritance[next] ?? []
    }
    return false
  }

  /// The name of the method or property that is declared with `override`.
  private static func _member(after index: Int, in tokens: [SourceToken]) -> String? {
    for position in (index + 1)..<min(index + 8, tokens.count) {
      guard ["func", "var"].contains(tokens[position].text), position + 1 < tokens.count else { continue }
      return tokens[position + 1].text
    }
    return nil
  }
}

/// The head of a type's declaration: its name and the list after the colon.
struct TypeHead {
  let name: String
  let inherited: Set<String>
  /// Whether a `where Self: …` clause or similar follows.
  let isConstrained: Bool

  /// Reads from the keyword on; nil if it does not begin a type's declaration (`class func`, `.class`).
  init?(at index: Int, in tokens: [SourceToken]) {
    guard index + 1 < tokens.count, tokens[index + 1].isName,
      !["func", "var", "let", "subscript", "override"].contains(tokens[index + 1].text),
      index == 0 || !(tokens[index - 1].isPunctuation(".") || tokens[index - 1].isKeyword("import"))
    else { return nil }
    var position = index + 1
    var name = tokens[position].text
    // The last component is the type that is extended.
    while position + 2 < tokens.count, tokens[position + 1].isPunctuation("."), tokens[position + 2].isName {
      position += 2
      name = tokens[position].text
    }
    var (inherited, isConstrained, depth, isAfterColon) = (Set<String>(), false, 0, false)
    for token in tokens[(position + 1)...].prefix(120) {
      if token.isPunctuation("{") || token.isPunctuation("}") || token.isPunctuation("=") { break }
      if token.isPunctuation("<") { depth += 1 }
      if token.isPunctuation(">") { depth -= 1 }
      if token.isKeyword("where") { isConstrained = true }
      if token.isPunctuation(":"), depth == 0 { isAfterColon = true }
      if isAfterColon, depth == 0, token.isName { inherited.insert(token.text) }
    }
    (self.name, self.inherited, self.isConstrained) = (name, inherited, isConstrained)
  }
}
