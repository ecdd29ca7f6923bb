import CoreDataSwiftLexer

/// Adapts imports: submodules of Core Data, stacks with a different name here, and names that Foundation also
/// declares.
struct ImportEdits {
  /// Classes that Foundation declares on Linux too, so that they are ambiguous in a file that imports both
  /// modules.
  private static let _sharedNames = ["NSComparisonPredicate", "NSExpression"]

  private let _survey: AdoptionSurvey
  private let _lineEnd: String

  init(_ survey: AdoptionSurvey, lineEnd: String) {
    _survey = survey
    _lineEnd = lineEnd
  }

  func edits(_ tokens: [SourceToken]) -> [SourceAdoption.Edit] {
    let imports = ImportedModule.all(in: tokens)
    var edits: [SourceAdoption.Edit] = []
    for module in imports where !module.isScoped {
      if module.path.count > 1, module.path[0] == "CoreData" {
        edits.append(SourceAdoption.Edit(range: module.range, text: "CoreData"))
      } else if module.path == ["CoreDataStack"], !_survey.ownModules.contains("CoreDataStack") {
        edits.append(SourceAdoption.Edit(range: module.range, text: "CoreDataStacks"))
      }
    }
    if let edit = _disambiguation(tokens, imports) { edits.append(edit) }
    return edits
  }

  /// Imports of the classes that both modules declare, after the file's last import.
  private func _disambiguation(_ tokens: [SourceToken], _ imports: [ImportedModule]) -> SourceAdoption.Edit? {
    let modules = Set(imports.filter { !$0.isScoped }.map { $0.path[0] })
    guard modules.contains("Foundation"), modules.contains("CoreData"),
      let last = imports.last(where: { !$0.isScoped && ["Foundation", "CoreData"].contains($0.path[0]) })
    else { return nil }
    let scoped = Set(imports.filter(\.isScoped).compactMap(\.path.last))
    let used = Set(
      tokens.indices.filter { index in
        // A name after a period is that of a member, or already qualified.
        tokens[index].isName && !(index > 0 && tokens[index - 1].isPunctuation("."))
      }.map { tokens[$0].text })
    let names = Self._sharedNames.filter {
      used.contains($0) && !scoped.contains($0) && !_survey.declares($0)
    }
    guard !names.isEmpty else { return nil }
    let lines = names.map { "import class CoreData.\($0)" }.joined(separator: _lineEnd)
    let text = "\(_lineEnd)#if !canImport(ObjectiveC)\(_lineEnd)\(lines)\(_lineEnd)#endif"
    return SourceAdoption.Edit(range: last.range.upperBound..<last.range.upperBound, text: text)
  }
}

/// The module or declaration that an `import` names.
struct ImportedModule {
  /// `CoreData`, `NSFetchRequest`.
  let path: [String]
  /// Whether the path has a declaration kind: `import class CoreData.NSExpression`.
  let isScoped: Bool
  /// The bytes of the path.
  let range: Range<Int>

  private static let _kinds: Set<String> = [
    "class", "struct", "enum", "protocol", "func", "var", "let", "typealias",
  ]

  static func all(in tokens: [SourceToken]) -> [ImportedModule] {
    tokens.indices.compactMap { index in
      guard tokens[index].isKeyword("import"), index == 0 || !tokens[index - 1].isPunctuation(".") else {
        return nil
      }
      var position = index + 1
      let isScoped = position < tokens.count && _kinds.contains(tokens[position].text)
      if isScoped { position += 1 }
      var path: [String] = []
      let start = position
      while position < tokens.count, tokens[position].isName, tokens[position].line == tokens[index].line {
        path.append(tokens[position].text)
        guard position + 2 < tokens.count, tokens[position + 1].isPunctuation(".") else { break }
        position += 2
      }
      guard !path.isEmpty, position < tokens.count else { return nil }
      return ImportedModule(
        path: path, isScoped: isScoped,
        range: tokens[start].range.lowerBound..<tokens[position].range.upperBound)
    }
  }
}
