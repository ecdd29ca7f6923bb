import CoreDataSwiftLexer

/// Checks `#Unique` and `#Index` in a model's body.
struct ConstraintReview {
  private let _review: ModelReview

  init(_ review: ModelReview) { _review = review }

  private var _model: ModelDeclaration { _review.model }

  var diagnostics: [Diagnostic] {
    var found: [Diagnostic] = []
    for name in ["Unique", "Index"] {
      let uses = _model.constraints.filter { $0.use.name == name }
      // Branches of one condition exclude each other.
      for (_, use) in uses.filter({ $0.member.branches.isEmpty }).dropFirst() {
        found.append(
          _review.error("A model has one '#\(name)'; write all its key paths there", at: use.range))
      }
      for (_, use) in uses { found += _check(use) }
    }
    return found
  }

  private func _check(_ use: MacroUse) -> [Diagnostic] {
    var found: [Diagnostic] = []
    let name = _model.type.name.text
    if let generics = use.genericArguments {
      let type = _review.piece.text(generics)
      if type.split(separator: ".").last.map(String.init) != _model.name, type != name {
        found.append(
          _review.error(
            "'#\(use.name)' is about the class that it stands in, '\(name)', not '\(type)'", at: generics,
            fixIts: [
              _review.fixIt("replace '\(type)' with '\(name)'", replacing: generics, with: _model.name)
            ]))
      }
    } else {
      found.append(
        _review.error(
          "'#\(use.name)' requires the class in angle brackets: '#\(use.name)<\(name)>'", at: use.range,
          fixIts: [
            _review.insertion(
              "insert '<\(name)>'", at: use.range.lowerBound + 1 + use.name.utf8.count, of: "<\(_model.name)>"
            )
          ]))
    }
    guard let arguments = use.arguments, !arguments.arguments.isEmpty else {
      return found + [
        _review.error("'#\(use.name)' requires an array of key paths, such as '[\\.name]'", at: use.range)
      ]
    }
    for argument in arguments.arguments { found += _check(argument, use) }
    return found
  }

  /// Key paths of properties that the class declares must be of stored ones; others may be inherited.
  private func _check(_ argument: ArgumentList.Argument, _ use: MacroUse) -> [Diagnostic] {
    var found: [Diagnostic] = []
    for (path, range) in Self._keyPaths(argument.tokens) {
      guard let property = _model.properties.first(where: { $0.name.text == path }) else {
        if let unknown = _unknown(path, at: range, use) { found.append(unknown) }
        continue
      }
      let kind: String
      switch property.storage {
      case .transient: kind = "transient"
      case .computed: kind = "computed"
      case .lazy: kind = "lazy"
      case .static: kind = "static"
      default: continue
      }
      found.append(
        _review.error("'#\(use.name)' requires stored properties, but '\(path)' is \(kind)", at: range))
    }
    return found
  }

  /// An error for a name that no property of the class has; a subclass may inherit one.
  private func _unknown(_ name: String, at range: Range<Int>, _ use: MacroUse) -> Diagnostic? {
    guard !_model.isSubclass, name != "self" else { return nil }
    let message =
      "'#\(use.name)' requires stored properties, but '\(_model.type.name.text)' declares no '\(name)'"
    let names = _model.stored.map(\.name.text)
    guard let meant = Spelling.closest(to: name, among: names) else {
      return _review.error(message, at: range)
    }
    return _review.error(
      "\(message); did you mean '\(meant)'?", at: range,
      fixIts: [_review.fixIt("replace '\(name)' with '\(meant)'", replacing: range, with: meant)])
  }

  /// The first names of key paths such as `\.name` and `\Book.name`.
  private static func _keyPaths(_ tokens: [SourceToken]) -> [(String, Range<Int>)] {
    var paths: [(String, Range<Int>)] = []
    for (index, token) in tokens.enumerated() where token.isPunctuation("\\") {
      var names: [SourceToken] = []
      var position = index + 1
      let isRooted = position < tokens.count && tokens[position].isName
      while position < tokens.count, tokens[position].isName || tokens[position].isPunctuation(".") {
        if tokens[position].isName { names.append(tokens[position]) }
        position += 1
      }
      if isRooted { names.removeFirst() }
      if let first = names.first { paths.append((first.text, first.range)) }
    }
    return paths
  }
}
