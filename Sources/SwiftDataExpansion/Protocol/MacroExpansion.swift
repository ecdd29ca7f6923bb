import CoreDataJSON

/// What a macro comes to: source, and remarks on the code it was used in.
struct MacroExpansion {
  /// Nil for nothing, which differs from an empty expansion only in the protocol.
  var source: String?
  var diagnostics: [Diagnostic] = []

  static var nothing: MacroExpansion { MacroExpansion(source: nil) }
  static var empty: MacroExpansion { MacroExpansion(source: "") }

  /// The answer as the compiler reads it.
  var message: JSONValue {
    .members([
      (
        "expandMacroResult",
        .members([
          ("expandedSource", source.map(JSONValue.string) ?? .null),
          ("diagnostics", .array(diagnostics.map(\.json))),
        ])
      )
    ])
  }
}
