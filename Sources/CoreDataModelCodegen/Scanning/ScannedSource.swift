/// The scanned declarations of one module.
struct ScannedModule: Sendable {
  let name: String
  var types: [ScannedType] = []
  var managed: [ManagedDeclaration] = []
  var problems: [SourceProblem] = []

  init(name: String) { self.name = name }
}

/// A type that a source declares.
struct ScannedType: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case nominal(MangledNominal.Kind)
    case alias(TypeSyntax)
  }

  /// Names from the outermost type inwards.
  let path: [String]
  let kind: Kind
  let access: SwiftAccess
  let isGeneric: Bool
  /// First type of the inheritance clause.
  let inherits: TypeSyntax?
  let file: String
  let line: Int
}

/// Access levels, from the narrowest.
enum SwiftAccess: Int, Sendable, Hashable, Comparable {
  case `private`, `fileprivate`, `internal`, package, `public`, open

  init?(keyword: String) {
    switch keyword {
    case "private": self = .private
    case "fileprivate": self = .fileprivate
    case "internal": self = .internal
    case "package": self = .package
    case "public": self = .public
    case "open": self = .open
    default: return nil
    }
  }

  static func < (left: SwiftAccess, right: SwiftAccess) -> Bool { left.rawValue < right.rawValue }

  var isPrivate: Bool { self <= .fileprivate }
}

/// One `@NSManaged` property or method.
struct ManagedDeclaration: Sendable, Hashable {
  struct Parameter: Sendable, Hashable {
    /// Nil for `_`.
    let label: String?
    let name: String
    let type: TypeSyntax
  }

  enum Kind: Sendable, Hashable {
    case property(TypeSyntax)
    case method([Parameter], result: TypeSyntax?)
  }

  let name: String
  let kind: Kind
  /// Path of the class as written around the declaration.
  let context: [String]
  let isInExtension: Bool
  let access: SwiftAccess
  let setterAccess: SwiftAccess
  /// Modules that the file imports.
  let imports: [String]
  let file: String
  let line: Int
  let column: Int
}

/// A declaration in a source for which no accessors can be generated.
package struct SourceProblem: Error, Sendable, Hashable, CustomStringConvertible {
  package let file: String
  package let line: Int
  package let column: Int
  package let message: String

  /// One line in the compiler's format, so that editors can jump to the location.
  package var description: String { "\(file):\(line):\(column): error: \(message)" }
}
