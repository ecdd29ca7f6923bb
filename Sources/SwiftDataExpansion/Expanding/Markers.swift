/// `@Attribute`, `@Relationship` and `@Transient`: `@Model` reads them from the class. By themselves they are nothing,
/// and say so where no model reads them.
enum PropertyMarker {
  static func expand(_ request: ExpansionRequest) -> MacroExpansion {
    let name = request.typeName.replacingSuffix("Macro")
    if let context = request.lexicalContext.first {
      // An extension's properties are computed, and '@Transient' on those says what is so anyway.
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
    let name = request.typeName.replacingSuffix("Macro")
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

/// What stands around a declaration.
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
  fileprivate func replacingSuffix(_ suffix: String) -> String {
    hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
  }
}
