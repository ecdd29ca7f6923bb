/// Generates the static list from which the schema of a class is created.
struct SchemaMetadata {
  private let _model: ModelDeclaration
  private let _isWrong: Bool

  /// - Parameter isWrong: The class has errors, which the list must not repeat.
  init(_ model: ModelDeclaration, isWrong: Bool) {
    _model = model
    _isWrong = isWrong
  }

  var source: String {
    let entries = _isWrong ? [] : _entries
    let isConditional = entries.contains { !$0.branches.isEmpty }
    var source = "\(_head) {\n"
    if isConditional {
      source +=
        "  var metadata: [SwiftData.Schema.PropertyMetadata] = \(_model.isSubclass ? "super.schemaMetadata" : "[]")\n"
      for entry in entries {
        source += ConditionalSource.wrapped("  metadata.append(\(entry.text))\n", in: entry.branches)
      }
      return source + "  return metadata\n}"
    }
    let elements = entries.map { "    \($0.text),\n" }.joined()
    let list = entries.isEmpty ? "[]" : "[\n\(elements)  ]"
    return source + "  \(_model.isSubclass ? "super.schemaMetadata + " : "")\(list)\n}"
  }

  private var _head: String {
    let kind = _model.isSubclass ? "override class" : _model.isFinal ? "static" : "class"
    return "\(_model.memberAccess)\(kind) var schemaMetadata: [SwiftData.Schema.PropertyMetadata]"
  }

  private var _entries: [(text: String, branches: [ConditionalBranch])] {
    _model.stored.map { (_entry(of: $0), $0.member.branches) }
      + _model.constraints.map { (_entry(of: $0.use), $0.member.branches) }
  }

  private func _entry(of property: ModelProperty) -> String {
    var arguments = ["name: \"\(property.name.text)\"", "keypath: \\\(_model.name).\(property.spelling)"]
    if let value = _initialValue(of: property) { arguments.append("defaultValue: \(value)") }
    if let metadata = _metadata(of: property) { arguments.append("metadata: \(metadata)") }
    return "SwiftData.Schema.PropertyMetadata(\(arguments.joined(separator: ", ")))"
  }

  /// The expression, with its type if one is written: `[]` and `.first` are ambiguous without.
  private func _initialValue(of property: ModelProperty) -> String? {
    guard let range = property.binding.value else { return nil }
    var value = property.piece.text(range)
    if value == "nil" { return nil }
    // Statements are valid as expressions only in assignments.
    if ["if ", "switch ", "do "].contains(where: value.hasPrefix) { value = "{ \(value) }()" }
    return property.type.map { "(\(value)) as \(TypeShape.castable($0))" } ?? value
  }

  private func _metadata(of property: ModelProperty) -> String? {
    for name in ["Relationship", "Attribute"] {
      guard let attribute = property.head.attribute(name) else { continue }
      let arguments = attribute.arguments.map { property.piece.text($0.range) } ?? ""
      return "SwiftData.Schema.\(name)(\(arguments))"
    }
    return nil
  }

  private func _entry(of use: MacroUse) -> String {
    let generics = use.genericArguments.map { "<\(_model.piece.text($0))>" } ?? ""
    let arguments = use.arguments.map { _model.piece.text($0.range) } ?? ""
    return "SwiftData.Schema.PropertyMetadata(name: \"#\(use.name)\", keypath: \\\(_model.name).self, "
      + "metadata: SwiftData.Schema.\(use.name)\(generics)(\(arguments)))"
  }
}
