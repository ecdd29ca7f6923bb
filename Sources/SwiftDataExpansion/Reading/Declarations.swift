import CoreDataSwiftLexer

/// An attribute such as `@Attribute(.unique)`.
struct AttributeSyntax {
  /// The last part of its name: `Model` of `@SwiftData.Model`.
  let name: String
  /// From the at sign to the closing parenthesis.
  let range: Range<Int>
  /// Nil without parentheses.
  let arguments: ArgumentList?
}

/// The arguments in parentheses.
struct ArgumentList {
  struct Argument {
    let label: String?
    /// The label with it.
    let range: Range<Int>
    let value: Range<Int>
    let tokens: [SourceToken]
  }

  let arguments: [Argument]
  /// Between the parentheses.
  let range: Range<Int>

  subscript(label: String) -> Argument? { arguments.first { $0.label == label } }
}

/// `public`, `private(set)`, `final` and similar modifiers.
struct ModifierSyntax {
  let name: String
  /// The text in parentheses.
  let detail: String?
  let range: Range<Int>
}

/// The common beginning of declarations of all kinds.
struct DeclarationHead {
  var attributes: [AttributeSyntax] = []
  var modifiers: [ModifierSyntax] = []

  func has(_ modifier: String) -> Bool { modifiers.contains { $0.name == modifier && $0.detail == nil } }
  func attribute(_ name: String) -> AttributeSyntax? { attributes.first { $0.name == name } }
  func attributes(_ name: String) -> [AttributeSyntax] { attributes.filter { $0.name == name } }
}

/// A class, struct, enum, actor, protocol or extension.
struct TypeDeclaration {
  struct Inherited {
    /// Without attributes such as `@unchecked`.
    let name: String
    let range: Range<Int>
  }

  let head: DeclarationHead
  let keyword: SourceToken
  let name: SourceToken
  let genericParameters: Range<Int>?
  let inherited: [Inherited]
  let members: [MemberDeclaration]
  /// The offset after the opening brace, and that of the closing one.
  let body: Range<Int>
}

/// A member of a type.
struct MemberDeclaration {
  enum Kind {
    case variable(VariableDeclaration)
    case initializer(InitializerDeclaration)
    /// A freestanding macro.
    case macro(MacroUse)
    /// Any other declaration, such as a function.
    case other(keyword: SourceToken?, name: SourceToken?)
  }

  let head: DeclarationHead
  let kind: Kind
  let range: Range<Int>
  /// The branches of `#if` around it, outermost first.
  var branches: [ConditionalBranch] = []
}

/// A branch of `#if`: the lines that select it, such as `#if A`, `#elseif B`, `#else`.
struct ConditionalBranch: Equatable {
  var lines: [String]
}

/// `var` or `let` with its bindings.
struct VariableDeclaration {
  enum Accessors: Equatable {
    case none
    /// `willSet` or `didSet`.
    case observers(Range<Int>)
    case computed(Range<Int>)
  }

  struct Binding {
    /// Nil for a pattern such as `(a, b)`.
    let name: SourceToken?
    let type: Range<Int>?
    let value: Range<Int>?
    let accessors: Accessors
    let range: Range<Int>
  }

  let keyword: SourceToken
  let bindings: [Binding]

  var isConstant: Bool { keyword.text == "let" }
}

/// `init(…)`.
struct InitializerDeclaration {
  let keyword: SourceToken
  /// The labels of its parameters, `_` included.
  let labels: [String]
}

/// `#Unique<Trip>([\.name])`.
struct MacroUse {
  let name: String
  /// Between the angle brackets.
  let genericArguments: Range<Int>?
  let arguments: ArgumentList?
  let range: Range<Int>
}
