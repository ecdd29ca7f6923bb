/// Dispatches a request to its macro.
enum MacroExpander {
  static func expand(_ request: ExpansionRequest) -> MacroExpansion {
    switch request.typeName {
    case "ModelMacro": _model(request)
    case "PersistedPropertyMacro": PersistedPropertyMacro.expand(request)
    case "AttributeMacro", "RelationshipMacro", "TransientMacro": PropertyMarker.expand(request)
    case "UniqueMacro", "IndexMacro": ConstraintMarker.expand(request)
    case "ModelActorMacro": ModelActorMacro.expand(request)
    default: .nothing
    }
  }

  private static func _model(_ request: ExpansionRequest) -> MacroExpansion {
    guard let role = request.role else { return .nothing }
    if role == .memberAttribute { return ModelMacro.attributes(request) }
    guard let piece = request.declaration,
      let model = ModelDeclaration(piece, missingConformances: request.missingConformances)
    else { return .empty }
    switch role {
    case .member:
      let diagnostics = ModelReview(model, macro: request.use).diagnostics
      guard ModelDeclaration.canBeModel(model.type) else {
        return MacroExpansion(source: "", diagnostics: diagnostics)
      }
      let isWrong = diagnostics.contains { $0.severity == .error }
      return MacroExpansion(source: ModelMacro.members(of: model, isWrong: isWrong), diagnostics: diagnostics)
    case .extension: return ModelMacro.extensions(request, model)
    default: return .empty
    }
  }
}
