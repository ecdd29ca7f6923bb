/// Diagnoses errors in a model class, with fix-its.
struct ModelReview {
  let model: ModelDeclaration
  /// The attribute `@Model`.
  let macro: SyntaxPiece

  init(_ model: ModelDeclaration, macro: SyntaxPiece) {
    self.model = model
    self.macro = macro
  }

  var piece: SyntaxPiece { model.piece }

  var diagnostics: [Diagnostic] {
    guard model.type.keyword.text == "class" else { return [_kind] }
    return _class + model.type.members.flatMap(_member) + _names + ConstraintReview(self).diagnostics
      + _initializer
  }

  func error(_ message: String, at range: Range<Int>, fixIts: [Diagnostic.FixIt] = []) -> Diagnostic {
    Diagnostic(severity: .error, message: message, place: piece.place(range), fixIts: fixIts)
  }

  func warning(_ message: String, at range: Range<Int>, fixIts: [Diagnostic.FixIt] = []) -> Diagnostic {
    Diagnostic(severity: .warning, message: message, place: piece.place(range), fixIts: fixIts)
  }

  func fixIt(_ message: String, replacing range: Range<Int>, with text: String) -> Diagnostic.FixIt {
    Diagnostic.FixIt(message: message, changes: [(place: piece.place(range), text: text)])
  }

  func insertion(_ message: String, at offset: Int, of text: String) -> Diagnostic.FixIt {
    fixIt(message, replacing: offset..<offset, with: text)
  }

  /// Removes a range, and the space after it.
  func removal(_ message: String, of range: Range<Int>) -> Diagnostic.FixIt {
    let next = range.upperBound
    let hasBlank = next < piece.bytes.count && piece.bytes[next] == UInt8(ascii: " ")
    return fixIt(message, replacing: range.lowerBound..<(hasBlank ? next + 1 : next), with: "")
  }

  // MARK: The class

  private var _kind: Diagnostic {
    let keyword = model.type.keyword
    let message =
      "'@Model' requires a class, but '\(model.type.name.text)' is \(TypeKind.phrase(keyword.text))"
    guard ["struct", "actor"].contains(keyword.text) else { return error(message, at: keyword.range) }
    let fixIt = fixIt(
      "replace '\(keyword.text)' with 'final class'", replacing: keyword.range, with: "final class")
    return error(message, at: keyword.range, fixIts: [fixIt])
  }

  private var _class: [Diagnostic] {
    var found: [Diagnostic] = []
    if let generics = model.type.genericParameters {
      found.append(
        error(
          "A model is stored under its class's name, so '\(model.type.name.text)' can't be generic",
          at: (generics.lowerBound - 1)..<(generics.upperBound + 1)))
    }
    for name in ["Observable", "ModelActor"] {
      guard let attribute = model.type.head.attribute(name) else { continue }
      found.append(
        error(
          name == "Observable"
            ? "'@Model' makes the class observable; '@Observable' makes its properties so a second time"
            : "'@ModelActor' requires an actor, and '@Model' a class",
          at: attribute.range, fixIts: [removal("remove '@\(name)'", of: attribute.range)]))
    }
    return found
  }

  // MARK: Members

  private func _member(_ member: MemberDeclaration) -> [Diagnostic] {
    switch member.kind {
    case .variable: PropertyReview(member, in: self).diagnostics
    case .initializer(let declaration) where declaration.labels == ["backingData"]:
      [
        error(
          "'@Model' writes 'init(backingData:)'; give this initializer another label",
          at: declaration.keyword.range)
      ]
    case .other(let keyword, _):
      ["Attribute", "Relationship", "Transient"].compactMap { name in
        guard let attribute = member.head.attribute(name) else { return nil }
        return error(
          "'@\(name)' requires a stored property, not \(keyword.map { "'\($0.text)'" } ?? "this")",
          at: attribute.range,
          fixIts: [removal("remove '@\(name)'", of: attribute.range)])
      }
    default: []
    }
  }

  /// Diagnoses names that the macro reserves, and names that two properties share in the store.
  private var _names: [Diagnostic] {
    let taken: Set<String> = [
      "persistentBackingData", "schemaMetadata", "_$backingData", "_$observationRegistrar", "_modelStorage",
    ]
    var found = model.properties.filter { taken.contains($0.name.text) && $0.storage != .generated }.map {
      error("'@Model' writes a member '\($0.name.text)'; give this property another name", at: $0.name.range)
    }
    var originals: [String: ModelProperty] = [:]
    for property in model.stored where property.member.branches.isEmpty {
      guard let (original, range) = _originalName(of: property) else { continue }
      if let other = originals[original] {
        found.append(
          error("'\(other.name.text)' already continues the stored property '\(original)'", at: range))
      }
      originals[original] = property
    }
    return found
  }

  private func _originalName(of property: ModelProperty) -> (String, Range<Int>)? {
    for attribute in property.head.attributes where ["Attribute", "Relationship"].contains(attribute.name) {
      guard let argument = attribute.arguments?["originalName"] else { continue }
      let text = piece.text(argument.value)
      guard text.hasPrefix("\""), text.hasSuffix("\""), text.count >= 2, !text.contains("\\") else {
        continue
      }
      return (String(text.dropFirst().dropLast()), argument.value)
    }
    return nil
  }

  // MARK: Initializers

  private var _initializer: [Diagnostic] {
    guard !model.hasDesignatedInitializer, model.type.genericParameters == nil else { return [] }
    let unset = model.uninitialized.filter { $0.storage != .transient }
    guard !unset.isEmpty || model.isSubclass else { return [] }
    let names = Enumeration.text(unset.map { "'\($0.name.text)'" })
    let message =
      unset.isEmpty
      ? "'\(model.type.name.text)' requires an initializer: that of '@Model' keeps it from inheriting any"
      : "'\(model.type.name.text)' requires an initializer that sets \(names)"
    let fixIts = _initializerFixIt(unset).map { [$0] } ?? []
    return [error(message, at: model.type.name.range, fixIts: fixIts)]
  }

  /// An initializer with a parameter for each property. The one of a superclass is unknown.
  private func _initializerFixIt(_ unset: [ModelProperty]) -> Diagnostic.FixIt? {
    guard !model.isSubclass, unset.allSatisfy({ $0.type != nil && $0.member.branches.isEmpty }) else {
      return nil
    }
    let parameters = unset.map { "\($0.name.text): \($0.type ?? "")" }.joined(separator: ", ")
    let lines = unset.map { "\n    self.\($0.spelling) = \($0.spelling)" }.joined()
    return insertion(
      "add an initializer", at: model.type.body.upperBound,
      of: "\n  \(model.memberAccess)init(\(parameters)) {\(lines)\n  }\n")
  }
}
