/// The inverses that the models of one compilation name, in the order in which the compiler shows the classes.
///
/// Two classes that name each other's properties never compile, but the compiler only speaks of a circular reference. Each
/// class is shown alone, so the second one is told. Expansions don't depend on this, only messages do.
final class NamedInverses {
  private struct Named {
    let property: String
    /// The class and the property at the other end.
    let inverse: [String]
  }

  /// By the name of the class, with those of enclosing declarations: versions of a schema are apart.
  private var _byClass: [String: [Named]] = [:]

  /// Notes the inverses of a class, and returns errors about those of which an earlier class has named the other side.
  func review(_ request: ExpansionRequest) -> [Diagnostic] {
    guard request.typeName == "ModelMacro", request.role == .member, let piece = request.declaration,
      piece.tokens.contains(where: { $0.isKeyword("inverse") }),
      let model = ModelDeclaration(piece, missingConformances: request.missingConformances)
    else { return [] }
    let enclosing = request.lexicalContext.map(\.trimmed).joined(separator: "\n")
    let name = model.type.name.text
    var named: [Named] = []
    var found: [Diagnostic] = []
    for property in model.stored {
      guard let argument = property.head.attribute("Relationship")?.arguments?["inverse"] else { continue }
      let inverse = Array(argument.tokens.filter(\.isName).map(\.text).suffix(2))
      guard inverse.count == 2, inverse[0] != name else { continue }
      named.append(Named(property: property.name.text, inverse: inverse))
      let others = _byClass["\(enclosing)\n\(inverse[0])"] ?? []
      guard others.contains(where: { $0.property == inverse[1] && $0.inverse == [name, property.name.text] })
      else { continue }
      found.append(
        Diagnostic(
          severity: .error,
          message:
            "'\(name).\(property.name.text)' and '\(inverse.joined(separator: "."))' name each other as inverse; "
            + "give it on one side only", place: piece.place(argument.range)))
    }
    // No program has as many models.
    if _byClass.count > 10_000 { _byClass = [:] }
    _byClass["\(enclosing)\n\(name)"] = named
    return found
  }
}
