/// `@ModelActor`: gives an actor its own context.
enum ModelActorMacro {
  static func expand(_ request: ExpansionRequest) -> MacroExpansion {
    guard let piece = request.declaration else { return .empty }
    var reader = DeclarationReader(piece)
    guard let type = reader.type() else { return .empty }
    guard type.keyword.text == "actor" else {
      return MacroExpansion(source: "", diagnostics: request.role == .member ? [_refusal(type, piece)] : [])
    }
    switch request.role {
    case .member: return _members(type, piece)
    case .extension:
      let name = request.extendedType ?? piece.text(type.name.range)
      let isThere = request.missingConformances.map { !$0.contains("ModelActor") } ?? false
      return MacroExpansion(source: isThere ? "" : "extension \(name): SwiftData.ModelActor {\n}")
    default: return .empty
    }
  }

  private static func _members(_ type: TypeDeclaration, _ piece: SyntaxPiece) -> MacroExpansion {
    let access =
      type.head.has("public") || type.head.has("open")
      ? "public " : type.head.has("package") ? "package " : ""
    let properties = type.members.flatMap { ModelProperty.all(of: $0, in: piece) }
    let names = Set(properties.map(\.name.text))
    var parts: [String] = []
    if !names.contains("modelExecutor") {
      parts.append("\(access)nonisolated let modelExecutor: any SwiftData.ModelExecutor")
    }
    if !names.contains("modelContainer") {
      parts.append("\(access)nonisolated let modelContainer: SwiftData.ModelContainer")
    }
    let initializers = type.members.compactMap { member -> InitializerDeclaration? in
      guard case .initializer(let declaration) = member.kind else { return nil }
      return declaration
    }
    // A hand-written initializer with the same parameters replaces ours; it is required if further properties
    // must be set.
    let unset = properties.filter { _isUnset($0) }
    var diagnostics: [Diagnostic] = []
    if !initializers.contains(where: { $0.labels == ["modelContainer"] }) {
      if unset.isEmpty {
        parts.append(_initializer(access))
      } else if initializers.isEmpty {
        diagnostics.append(_missingInitializer(type, unset, piece))
      }
    }
    return MacroExpansion(source: parts.joined(separator: "\n\n"), diagnostics: diagnostics)
  }

  private static func _isUnset(_ property: ModelProperty) -> Bool {
    switch property.storage {
    case .computed, .static, .lazy, .generated: false
    default:
      !property.hasInitialValue && property.name.text != "modelExecutor"
        && property.name.text != "modelContainer"
    }
  }

  private static func _initializer(_ access: String) -> String {
    """
    \(access)init(modelContainer: SwiftData.ModelContainer) {
      let modelContext = SwiftData.ModelContext(modelContainer)
      self.modelExecutor = SwiftData.DefaultSerialModelExecutor(modelContext: modelContext)
      self.modelContainer = modelContainer
    }
    """
  }

  private static func _refusal(_ type: TypeDeclaration, _ piece: SyntaxPiece) -> Diagnostic {
    let place = piece.place(type.keyword.range)
    var diagnostic = Diagnostic(
      severity: .error,
      message:
        "'@ModelActor' requires an actor, but '\(type.name.text)' is \(TypeKind.phrase(type.keyword.text))",
      place: place)
    if ["class", "struct"].contains(type.keyword.text) {
      diagnostic.fixIts = [
        Diagnostic.FixIt(
          message: "replace '\(type.keyword.text)' with 'actor'", changes: [(place: place, text: "actor")])
      ]
    }
    return diagnostic
  }

  private static func _missingInitializer(
    _ type: TypeDeclaration, _ unset: [ModelProperty], _ piece: SyntaxPiece
  ) -> Diagnostic {
    let names = Enumeration.text(unset.map { "'\($0.name.text)'" })
    return Diagnostic(
      severity: .error,
      message:
        "'\(type.name.text)' requires an initializer that sets \(names), 'modelExecutor' and 'modelContainer'",
      place: piece.place(type.name.range))
  }
}
