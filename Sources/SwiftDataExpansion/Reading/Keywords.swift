import CoreDataSwiftLexer

/// The words that begin declarations.
enum Keywords {
  static let types: Set<String> = ["class", "struct", "enum", "actor", "protocol", "extension"]

  static let declarations: Set<String> = types.union([
    "var", "let", "func", "init", "deinit", "subscript", "typealias", "associatedtype", "case", "import",
    "operator",
    "precedencegroup", "macro",
  ])

  static let access: Set<String> = ["private", "fileprivate", "internal", "package", "public", "open"]

  static let modifiers: Set<String> = access.union([
    "final", "dynamic", "override", "static", "lazy", "weak", "unowned", "nonisolated", "required",
    "convenience",
    "optional", "mutating", "nonmutating", "indirect", "isolated", "prefix", "postfix", "infix",
    "distributed",
    "borrowing", "consuming", "__consuming", "async", "sending",
  ])

  static let accessors: Set<String> = [
    "get", "set", "init", "willSet", "didSet", "_read", "_modify", "read", "modify", "yielding", "borrow",
    "mutate",
    "unsafeAddress", "unsafeMutableAddress", "mutating", "nonmutating", "nonisolated", "private",
    "fileprivate",
    "internal", "package", "public",
  ]
}
