import CoreDataSwiftLexer

/// A class with `@Model`, as read from its source.
struct ModelDeclaration {
  let piece: SyntaxPiece
  let type: TypeDeclaration
  let properties: [ModelProperty]
  /// Whether its superclass is a model, too.
  let isSubclass: Bool

  /// - Parameter missingConformances: The conformances that the compiler reports as missing; nil if there are
  ///   none.
  init?(_ piece: SyntaxPiece, missingConformances: Set<String>?) {
    var reader = DeclarationReader(piece)
    guard let type = reader.type() else { return nil }
    self.piece = piece
    self.type = type
    properties = type.members.flatMap { ModelProperty.all(of: $0, in: piece) }
    isSubclass = Self._isSubclass(type, missingConformances)
  }

  /// Whether members can be added to the type at all: it is a class, and `@Observable` has not added the same.
  static func canBeModel(_ type: TypeDeclaration) -> Bool {
    type.keyword.text == "class" && type.head.attribute("Observable") == nil
  }

  /// A class without missing conformances inherits them, unless it declares itself what the macro would add.
  private static func _isSubclass(_ type: TypeDeclaration, _ missing: Set<String>?) -> Bool {
    guard missing?.isEmpty ?? true, !type.inherited.isEmpty else { return false }
    // A superclass may have the name of a protocol, but does not stand for two.
    let names = type.inherited.compactMap { $0.name.split(separator: ".").last }
    return !(names.contains("PersistentModel") && names.contains("Sendable"))
  }

  var name: String { piece.text(type.name.range) }

  var isFinal: Bool { type.head.has("final") }

  /// The access that members need to satisfy the protocol, followed by a blank; empty for the default.
  var memberAccess: String {
    if type.head.has("public") || type.head.has("open") { return "public " }
    return type.head.has("package") ? "package " : ""
  }

  var stored: [ModelProperty] { properties.filter(\.isStored) }

  var initializers: [(member: MemberDeclaration, declaration: InitializerDeclaration)] {
    type.members.compactMap { member in
      guard case .initializer(let declaration) = member.kind else { return nil }
      return (member, declaration)
    }
  }

  var hasDesignatedInitializer: Bool {
    initializers.contains { !$0.member.head.has("convenience") && $0.declaration.labels != ["backingData"] }
  }

  /// The uses of `#Unique` and `#Index`.
  var constraints: [(member: MemberDeclaration, use: MacroUse)] {
    type.members.compactMap { member in
      guard case .macro(let use) = member.kind, use.name == "Unique" || use.name == "Index" else {
        return nil
      }
      return (member, use)
    }
  }

  /// Properties that an initializer must set, since they have no other value.
  var uninitialized: [ModelProperty] {
    properties.filter { property in
      switch property.storage {
      case .persisted, .constant, .transient: !property.hasInitialValue && !_isOptionalTransient(property)
      default: false
      }
    }
  }

  private func _isOptionalTransient(_ property: ModelProperty) -> Bool {
    property.storage == .transient && TypeShape.isOptional(property.type)
  }
}
