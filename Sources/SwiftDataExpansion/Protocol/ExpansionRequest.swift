import CoreDataJSON

/// A request of the compiler: to expand one macro in one role, at one location.
package struct ExpansionRequest {
  /// The type that `#externalMacro` names.
  let typeName: String
  /// Nil for a freestanding macro.
  let role: Role?
  /// The attribute, or the complete freestanding macro, as written.
  let use: SyntaxPiece
  /// The declaration to which a macro is attached.
  let declaration: SyntaxPiece?
  /// The type that contains a member to which a macro adds attributes.
  let parent: SyntaxPiece?
  /// The name of the type to extend, qualified for the file.
  let extendedType: String?
  /// The protocols that the type does not conform to yet; nil if the compiler names none.
  let missingConformances: Set<String>?
  /// The enclosing declarations without their bodies, innermost first.
  let lexicalContext: [SyntaxPiece]

  enum Role: String {
    case member, memberAttribute, accessor, peer, `extension`
  }

  init?(_ json: JSONValue) {
    guard let typeName = json["macro"]?["typeName"]?.string,
      let use = (json["attributeSyntax"] ?? json["syntax"]).flatMap(SyntaxPiece.init)
    else { return nil }
    self.typeName = typeName
    self.use = use
    if json["attributeSyntax"] != nil {
      guard let role = json["macroRole"]?.string.flatMap(Role.init) else { return nil }
      self.role = role
    } else {
      role = nil
    }
    declaration = json["declSyntax"].flatMap(SyntaxPiece.init)
    parent = json["parentDeclSyntax"].flatMap(SyntaxPiece.init)
    extendedType = json["extendedTypeSyntax"].flatMap(SyntaxPiece.init)?.trimmed
    missingConformances = json["conformanceListSyntax"].flatMap(SyntaxPiece.init).map { piece in
      var reader = DeclarationReader(piece)
      // Qualified where the client has a type with one of these names.
      return Set(
        reader.type()?.inherited.compactMap { $0.name.split(separator: ".").last.map(String.init) } ?? [])
    }
    if case .array(let pieces)? = json["lexicalContext"] {
      lexicalContext = pieces.compactMap(SyntaxPiece.init)
    } else {
      lexicalContext = []
    }
  }
}
