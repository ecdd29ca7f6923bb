/// `@Attribute`, `@Relationship` and `@Transient`: `@Model` reads them from the class. On their own they do
/// nothing, and report an error outside of a model.
enum PropertyMarker {
  static func expand(_ request: ExpansionRequest) -> MacroExpansion {
    let name = request.typeName._replacingSuffix("Macro")
    if let context = request.lexicalContext.first {
      // An extension's properties are computed, so that '@Transient' on them is redundant.
      if LexicalContext.isModel(context) || (name == "Transient" && LexicalContext.isExtension(context)) {
        return .empty
      }
    }
    var reader = DeclarationReader(request.use)
    let range = reader.readHead().attributes.first?.range ?? 0..<0
    return MacroExpansion(
      source: "",
      diagnostics: [
        Diagnostic(
          severity: .error, message: "'@\(name)' requires a property in the body of a class with '@Model'",
          place: request.use.place(range))
      ])
  }
}

/// `#Unique` and `#Index`, likewise.
enum ConstraintMarker {
  static func expand(_ request: ExpansionRequest) -> MacroExpansion {
    if let context = request.lexicalContext.first, LexicalContext.isModel(context) { return .empty }
    let name = request.typeName._replacingSuffix("Macro")
    var reader = DeclarationReader(request.use)
    let range = reader.macroUse()?.range ?? 0..<0
    return MacroExpansion(
      source: "",
      diagnostics: [
        Diagnostic(
          severity: .error, message: "'#\(name)' belongs in the body of a class with '@Model'",
          place: request.use.place(range))
      ])
  }
}

/// The declarations that enclose a declaration.
enum LexicalContext {
  static func isModel(_ context: SyntaxPiece) -> Bool {
    var reader = DeclarationReader(context)
    guard let type = reader.type() else { return false }
    return type.head.attribute("Model") != nil
  }

  static func isExtension(_ context: SyntaxPiece) -> Bool {
    var reader = DeclarationReader(context)
    return reader.type()?.keyword.text == "extension"
  }
}

extension String {
  fileprivate func _replacingSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
