import CoreDataSwiftLexer

/// Adapts imports: submodules of Core Data, stacks with a different name here, names that Foundation also
/// declares, and those that Foundation has on a Mac and Core Data here.
struct ImportEdits {
  /// Classes that Foundation declares on Linux too, so that they are ambiguous in a file that imports both
  /// modules.
  private static let _sharedNames = ["NSComparisonPredicate", "NSExpression"]
  /// Classes of Apple's Foundation that are Core Data's here.
  private static let _movedNames: Set<String> = [
    "NSComparisonPredicate", "NSExpression", "NSSecureUnarchiveFromDataTransformer", "NSValueTransformerName",
    "ValueTransformer",
  ]
  /// Classes whose initialisers with this label are Core Data's here.
  private static let _movedInitialisers = ["NSPredicate": "format", "NSSortDescriptor": "key"]

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

  /// Whether a file uses what Foundation has on a Mac and Core Data here.
  private func _usesMovedNames(_ tokens: [SourceToken]) -> Bool {
    tokens.indices.contains { index in
      let name = tokens[index].text
      guard tokens[index].isName, !(index > 0 && tokens[index - 1].isPunctuation(".")) else { return false }
      if Self._movedNames.contains(name) { return !_survey.declares(name) }
      guard let label = Self._movedInitialisers[name], index + 3 < tokens.count else { return false }
      return tokens[index + 1].isPunctuation("(") && tokens[index + 2].isKeyword(label)
        && tokens[index + 3].isPunctuation(":")
    }
  }

  /// The import of Core Data, if the file needs it, and imports of the classes that both modules declare, after
  /// the file's last import of the two.
  private func _disambiguation(_ tokens: [SourceToken], _ imports: [ImportedModule]) -> SourceAdoption.Edit? {
    let modules = Set(imports.filter { !$0.isScoped }.map { $0.path[0] })
    let needsCoreData =
      modules.isDisjoint(with: ["CoreData", "CoreDataStack", "CoreDataStacks", "SwiftData"])
      && _usesMovedNames(tokens)
    guard modules.contains("Foundation"), modules.contains("CoreData") || needsCoreData,
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
    var text = needsCoreData ? "\(_lineEnd)import CoreData" : ""
    if !names.isEmpty {
      let lines = names.map { "import class CoreData.\($0)" }.joined(separator: _lineEnd)
      text += "\(_lineEnd)#if !canImport(ObjectiveC)\(_lineEnd)\(lines)\(_lineEnd)#endif"
    }
    if text.isEmpty { return nil }
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
