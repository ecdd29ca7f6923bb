import CoreDataJSON

/// The result of a macro: source, and diagnostics of the code that uses it.
struct MacroExpansion {
  /// Nil for no expansion, which differs from an empty one only in the protocol.
  var source: String?
  var diagnostics: [Diagnostic] = []

  static var nothing: MacroExpansion { MacroExpansion(source: nil) }
  static var empty: MacroExpansion { MacroExpansion(source: "") }

  /// The same with more diagnostics.
  func adding(_ more: [Diagnostic]) -> MacroExpansion {
    MacroExpansion(source: source, diagnostics: diagnostics + more)
  }

  /// The response in the compiler's format.
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
