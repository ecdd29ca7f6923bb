import CoreDataSwiftLexer

/// A property of a model class, and what becomes of it.
struct ModelProperty {
  enum Storage: Equatable {
    /// A variable that is stored with the object.
    case persisted
    /// A constant that is stored with the object.
    case constant
    /// In memory only, with what makes it so.
    case transient
    case computed
    case `lazy`
    /// Of the class, not of its instances.
    case `static`
    /// Made by a macro.
    case generated
    /// Something that cannot be stored, which the review reports.
    case unsupported(UnsupportedProperty)
  }

  let piece: SyntaxPiece
  let member: MemberDeclaration
  let variable: VariableDeclaration
  let binding: VariableDeclaration.Binding
  let name: SourceToken
  let storage: Storage

  /// The properties that a member declares.
  static func all(of member: MemberDeclaration, in piece: SyntaxPiece) -> [ModelProperty] {
    guard case .variable(let variable) = member.kind else { return [] }
    return variable.bindings.compactMap { binding in
      binding.name.map {
        ModelProperty(
          piece: piece, member: member, variable: variable, binding: binding, name: $0,
          storage: _storage(member, variable, binding, $0, piece))
      }
    }
  }

  private static func _storage(
    _ member: MemberDeclaration, _ variable: VariableDeclaration, _ binding: VariableDeclaration.Binding,
    _ name: SourceToken, _ piece: SyntaxPiece
  ) -> Storage {
    let head = member.head
    if head.has("static") || head.has("class") { return .static }
    if case .computed = binding.accessors { return .computed }
    if head.attribute("Transient") != nil { return .transient }
    if head.has("lazy") { return .lazy }
    if name.text.hasPrefix("_$") || binding.type.map(piece.text) == "_SwiftDataNoType" { return .generated }
    if let reason = UnsupportedProperty(member, variable, binding, piece) { return .unsupported(reason) }
    return variable.isConstant ? .constant : .persisted
  }

  var head: DeclarationHead { member.head }

  /// The name as source spells it, in backticks where it has them.
  var spelling: String { piece.text(name.range) }

  var isStored: Bool { storage == .persisted || storage == .constant }

  var type: String? { binding.type.map(piece.text) }

  /// Whether a new object has a value without an initialiser's help.
  var hasInitialValue: Bool {
    binding.value != nil || (!variable.isConstant && TypeShape.isOptional(type))
  }

  /// Whether the value passes through a transformer on its way, and need not be codable.
  var isTransformable: Bool {
    head.attributes("Attribute").contains { $0.arguments?.hasOption("transformable") ?? false }
  }
}

/// Why a property cannot be stored.
enum UnsupportedProperty: Equatable {
  /// `var a, b: Int`, or a pattern.
  case severalNames
  case weak(String)
  case type(TypeShape.Flaw)

  init?(
    _ member: MemberDeclaration, _ variable: VariableDeclaration, _ binding: VariableDeclaration.Binding,
    _ piece: SyntaxPiece
  ) {
    if variable.bindings.count > 1 {
      self = .severalNames
    } else if let modifier = member.head.modifiers.first(where: { $0.name == "weak" || $0.name == "unowned" })
    {
      self = .weak(modifier.name)
    } else if let type = binding.type, let flaw = TypeShape.flaw(of: type, in: piece),
      // What a transformer makes of a value is its own affair.
      !member.head.attributes("Attribute").contains(where: {
        $0.arguments?.hasOption("transformable") ?? false
      })
    {
      self = .type(flaw)
    } else {
      return nil
    }
  }
}

extension ArgumentList {
  /// Whether an option such as `.unique` is among the arguments without a label.
  func hasOption(_ name: String) -> Bool { option(name) != nil }

  func option(_ name: String) -> Argument? {
    arguments.first { argument in
      let words = argument.tokens.filter(\.isName).map(\.text)
      return argument.label == nil
        && words.first.map { $0 == name || words.dropFirst().first == name } ?? false
    }
  }
}
