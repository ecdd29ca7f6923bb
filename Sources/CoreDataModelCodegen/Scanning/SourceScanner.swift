import CoreDataSwiftLexer

/// Scans the declarations of types and `@NSManaged` members in a Swift source.
///
/// It parses declarations only and skips bodies, so it need not understand expressions. The source is the
/// user's own and will be compiled: errors in it are left to the compiler.
struct SourceScanner {
  /// Maximum nesting of types.
  private static let _depthLimit = 64

  private let _tokens: [SourceToken]
  private let _file: String
  private var _position = 0
  private var _imports: [String] = []
  private var _module: ScannedModule

  /// The attributes and modifiers of the current declaration.
  private struct Prefix {
    var access: SwiftAccess?
    var setterAccess: SwiftAccess?
    var isManaged = false
    var start: SourceToken?
  }

  private struct Context {
    var path: [String] = []
    var isExtension = false
    /// Access level of members without a modifier.
    var memberAccess = SwiftAccess.internal
    var depth = 0
  }

  /// Adds the declarations of `source` to `module`.
  ///
  /// - Parameter file: Path of the source, for messages and for the discriminator of private declarations in
  ///   symbols.
  static func scan(_ source: String, file: String, into module: inout ScannedModule) {
    var scanner = SourceScanner(source, file, module)
    scanner._scanMembers(Context())
    module = scanner._module
  }

  private init(_ source: String, _ file: String, _ module: ScannedModule) {
    _tokens = ConditionalBlocks.active(SourceLexer.tokens(in: source))
    _file = file
    _module = module
  }

  // MARK: Tokens

  private func _token(_ ahead: Int = 0) -> SourceToken? {
    _position + ahead < _tokens.count ? _tokens[_position + ahead] : nil
  }

  private func _peek(_ sign: String, ahead: Int = 0) -> Bool { _token(ahead)?.isPunctuation(sign) ?? false }

  /// Steps over one token, or over a whole bracketed group.
  private mutating func _skip() {
    _position = _tokens.index(afterGroupAt: _position)
  }

  // MARK: Members

  private mutating func _scanMembers(_ context: Context) {
    var prefix = Prefix()
    while let token = _token() {
      if token.isPunctuation("}") {
        _position += 1
        return
      }
      if token.isPunctuation("@") {
        _scanAttribute(&prefix)
        continue
      }
      if _lastToken?.isPunctuation(".") ?? false {
        // A member in a default value.
        _position += 1
        continue
      }
      if token.kind == .identifier, _scanModifier(token, &prefix) { continue }
      if token.kind == .identifier { _scanDeclaration(token, prefix, context) } else { _skip() }
      prefix = Prefix()
    }
  }

  private mutating func _scanAttribute(_ prefix: inout Prefix) {
    if prefix.start == nil { prefix.start = _token() }
    _position += 1
    guard let name = _token(), name.isName else { return }
    _position += 1
    if name.text == "NSManaged" { prefix.isManaged = true }
    while _peek("."), _token(1)?.isName ?? false { _position += 2 }
    // Arguments follow without whitespace in between.
    if let next = _token(), next.isPunctuation("("), let last = _lastToken,
      last.range.upperBound == next.range.lowerBound
    {
      _skip()
    }
  }

  private var _lastToken: SourceToken? { _position > 0 ? _tokens[_position - 1] : nil }

  private static let _modifiers: Set<String> = [
    "final", "dynamic", "override", "static", "lazy", "weak", "unowned", "nonisolated", "required",
    "convenience",
    "optional", "mutating", "nonmutating", "indirect", "isolated", "prefix", "postfix", "infix",
    "distributed", "async",
    "borrowing", "consuming", "sending", "__consuming",
  ]

  /// Reads an access level or another modifier.
  private mutating func _scanModifier(_ token: SourceToken, _ prefix: inout Prefix) -> Bool {
    if let access = SwiftAccess(keyword: token.text) {
      _position += 1
      if _peek("("), _token(1)?.isKeyword("set") ?? false {
        prefix.setterAccess = access
        _skip()
      } else {
        prefix.access = access
      }
      return true
    }
    if Self._modifiers.contains(token.text) {
      _position += 1
      if _peek("(") { _skip() }
      return true
    }
    // `class` before a member means static.
    if token.text == "class", let next = _token(1), next.kind == .identifier,
      ["func", "var", "let", "subscript"].contains(next.text) || Self._modifiers.contains(next.text)
        || SwiftAccess(keyword: next.text) != nil
    {
      _position += 1
      return true
    }
    return false
  }

  private mutating func _scanDeclaration(_ token: SourceToken, _ prefix: Prefix, _ context: Context) {
    switch token.text {
    case "class", "actor": _scanType(.class, prefix, context)
    case "struct": _scanType(.structure, prefix, context)
    case "enum": _scanType(.enumeration, prefix, context)
    case "protocol": _scanType(.protocol, prefix, context)
    case "extension": _scanExtension(prefix, context)
    case "typealias": _scanAlias(prefix, context)
    case "import": _scanImport()
    case "var", "let":
      _position += 1
      if prefix.isManaged { _scanProperties(token, prefix, context) }
    case "func":
      _position += 1
      if prefix.isManaged { _scanMethod(token, prefix, context) }
    default: _position += 1
    }
  }

  private mutating func _scanImport() {
    _position += 1
    guard var name = _token(), name.isName else { return }
    _position += 1
    // `import class Module.Name`
    if ["class", "struct", "enum", "protocol", "typealias", "func", "var", "let"].contains(name.text),
      let module = _token(), module.isName
    {
      name = module
      _position += 1
    }
    while _peek("."), _token(1)?.isName ?? false { _position += 2 }
    _imports.append(name.text)
  }

  // MARK: Types

  private mutating func _scanType(_ kind: MangledNominal.Kind, _ prefix: Prefix, _ context: Context) {
    _position += 1
    guard let name = _token(), name.isName else { return }
    _position += 1
    let isGeneric = _peek("<")
    let inherits = _skipToBody()
    let access = prefix.access ?? context.memberAccess
    let path = context.path + [name.text]
    _module.types.append(
      ScannedType(
        path: path, kind: .nominal(kind), access: access, isGeneric: isGeneric, inherits: inherits,
        file: _file,
        line: name.line))
    _scanBody(Context(path: path, depth: context.depth + 1))
  }

  private mutating func _scanExtension(_ prefix: Prefix, _ context: Context) {
    _position += 1
    var parser = TypeParser(_tokens, at: _position)
    let type = parser.parse()
    _position = max(parser.position, _position)
    _ = _skipToBody()
    var path: [String] = []
    if case .named(let components)? = type { path = components.map(\.name) }
    _scanBody(
      Context(
        path: path, isExtension: true, memberAccess: prefix.access ?? .internal, depth: context.depth + 1))
  }

  /// Skips to the opening brace and returns the first inherited type.
  private mutating func _skipToBody() -> TypeSyntax? {
    var inherits: TypeSyntax?
    if _peek("<") {
      var depth = 0
      repeat {
        if _peek("<") { depth += 1 }
        if _peek(">") { depth -= 1 }
        _position += 1
      } while depth > 0 && _token() != nil
    }
    if _peek(":") {
      var parser = TypeParser(_tokens, at: _position + 1)
      inherits = parser.parse()
    }
    while let token = _token(), !token.isPunctuation("{") {
      // Ignore a type without a body, and leave the error to the compiler.
      if token.isPunctuation("}") { return inherits }
      _position += 1
    }
    return inherits
  }

  private mutating func _scanBody(_ context: Context) {
    guard _peek("{") else { return }
    guard context.depth < Self._depthLimit else {
      _skip()
      return
    }
    _position += 1
    _scanMembers(context)
  }

  private mutating func _scanAlias(_ prefix: Prefix, _ context: Context) {
    _position += 1
    guard let name = _token(), name.isName else { return }
    _position += 1
    guard _peek("=") else { return }
    var parser = TypeParser(_tokens, at: _position + 1)
    guard let type = parser.parse() else { return }
    _position = parser.position
    _module.types.append(
      ScannedType(
        path: context.path + [name.text], kind: .alias(type), access: prefix.access ?? context.memberAccess,
        isGeneric: false, inherits: nil, file: _file, line: name.line))
  }

  // MARK: Managed members

  private mutating func _scanProperties(_ keyword: SourceToken, _ prefix: Prefix, _ context: Context) {
    var names: [SourceToken] = []
    repeat {
      if _peek(",") { _position += 1 }
      guard let name = _token(), name.isName else { return }
      names.append(name)
      _position += 1
      guard _peek(":") else { continue }
      var parser = TypeParser(_tokens, at: _position + 1)
      guard let type = parser.parse() else {
        _report(name, "the type of '\(name.text)' is none that a managed property can have")
        return
      }
      _position = parser.position
      // In `var a, b: Int16` both have the type.
      for name in names { _add(name, .property(type), prefix, context) }
      names = []
    } while _peek(",")
    for name in names {
      _report(name, "'\(name.text)' has no type; write '@NSManaged var \(name.text): Type'")
    }
  }

  private mutating func _scanMethod(_ keyword: SourceToken, _ prefix: Prefix, _ context: Context) {
    guard let name = _token(), name.isName else { return }
    _position += 1
    guard _peek("(") else {
      _report(name, "'\(name.text)' is generic, which a managed method cannot be")
      return
    }
    _position += 1
    var parameters: [ManagedDeclaration.Parameter] = []
    while let label = _token(), label.isName {
      _position += 1
      var inner = label
      if let second = _token(), second.isName {
        inner = second
        _position += 1
      }
      guard _peek(":") else { break }
      var parser = TypeParser(_tokens, at: _position + 1)
      guard let type = parser.parse() else {
        _report(label, "the type of parameter '\(inner.text)' is none that a managed method can have")
        return
      }
      _position = parser.position
      parameters.append(
        ManagedDeclaration.Parameter(
          label: label.text == "_" ? nil : label.text, name: inner.text, type: type))
      if _peek(",") { _position += 1 }
    }
    guard _peek(")") else {
      _report(name, "the parameters of '\(name.text)' are none that a managed method can have")
      return
    }
    _position += 1
    var result: TypeSyntax?
    if let token = _token(), token.isKeyword("throws") || token.isKeyword("async") {
      _report(name, "'\(name.text)' is '\(token.text)', which a managed method cannot be")
      return
    }
    if _peek("->") {
      var parser = TypeParser(_tokens, at: _position + 1)
      guard let type = parser.parse() else { return }
      _position = parser.position
      result = type == .tuple([]) || type == .name("Void") ? nil : type
    }
    _add(name, .method(parameters, result: result), prefix, context)
  }

  private mutating func _add(
    _ name: SourceToken, _ kind: ManagedDeclaration.Kind, _ prefix: Prefix, _ context: Context
  ) {
    guard !context.path.isEmpty else {
      _report(name, "'@NSManaged' belongs on members of a subclass of NSManagedObject")
      return
    }
    let access = prefix.access ?? context.memberAccess
    _module.managed.append(
      ManagedDeclaration(
        name: name.text, kind: kind, context: context.path, isInExtension: context.isExtension,
        access: access,
        setterAccess: prefix.setterAccess ?? access, imports: _imports, file: _file, line: name.line,
        column: name.column))
  }

  private mutating func _report(_ token: SourceToken, _ message: String) {
    _module.problems.append(
      SourceProblem(file: _file, line: token.line, column: token.column, message: message))
  }
}
