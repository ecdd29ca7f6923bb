import CoreDataSwiftLexer

/// Finds code that cannot be rewritten automatically, and suggests a change for each.
struct AdoptionRemarks {
  private let _bytes: [UInt8]
  private let _survey: AdoptionSurvey
  private let _path: String?

  init(_ bytes: [UInt8], _ survey: AdoptionSurvey, path: String?) {
    _bytes = bytes
    _survey = survey
    _path = path
  }

  func remarks(_ tokens: [SourceToken]) -> [SourceAdoption.Remark] {
    var remarks: [SourceAdoption.Remark] = []
    var blocks = SourceBlocks()
    func add(_ message: String?, at token: SourceToken) {
      guard let message else { return }
      remarks.append(SourceAdoption.Remark(line: token.line, column: token.column, message: message))
    }
    for (index, token) in tokens.enumerated() {
      blocks.consume(index, in: tokens)
      add(_declaration(at: index, in: tokens, blocks) ?? _message(at: index, in: tokens, blocks), at: token)
    }
    remarks += GeneralRemarks(_survey, path: _path).remarks(tokens)
    if let token = _useWithoutImport(tokens) {
      add(
        "uses Core Data without importing it, which only other files' imports allow; add 'import CoreData'",
        at: token)
    }
    remarks.sort { ($0.line, $0.column) < ($1.line, $1.column) }
    return remarks
  }

  // MARK: Names

  private static let _modules: [String: String] = [
    "Combine":
      "Combine is Apple-only; observe NSManagedObjectContextObjectsDidChange instead, or guard the import",
    "SwiftUI": "SwiftUI is Apple-only; keep views in a separate target",
    "UIKit": "UIKit is Apple-only; keep views in a separate target",
    "AppKit": "AppKit is Apple-only; keep views in a separate target",
    "HealthKit": "HealthKit is Apple-only; keep code that uses it in a separate target",
    "CloudKit": "CloudKit is Apple-only; keep code that uses it in a separate target",
    "CoreGraphics":
      "CoreGraphics is Apple-only; Foundation has CGFloat, CGPoint, CGSize and CGRect here: import Foundation, and guard "
      + "what draws",
    "ObjectiveC": "there is no Objective-C runtime; guard the import",
    "os": "os is Apple-only; log with swift-log or print, lock with Mutex or NSLock, or guard the import",
    "OSLog": "OSLog is Apple-only; log with swift-log or print, or guard the import",
  ]

  private static let _names: [String: String] = [
    "observe": "there is no key-value observation; observe the context's notifications instead",
    "addObserver": "there is no key-value observation; observe the context's notifications instead",
    "removeObserver":
      "removes observers that were added by selector only, and there are none; keep what "
      + "addObserver(forName:object:queue:using:) returns, and remove that",
    "publisher":
      "publishers come from Combine, which is Apple-only; use the notification centre or an AsyncSequence",
    "NSPersistentCloudKitContainer": "there is no CloudKit; use NSPersistentContainer",
    "NSCoreDataCoreSpotlightDelegate": "there is no Spotlight",
    "perform": "methods cannot be called by selector; call the method, or pass a closure",
    "responds": "methods cannot be looked up by selector; cast to a protocol that has the method",
    "ObservableObject": "ObservableObject comes from Combine, which is Apple-only; use Observation",
    "Published": "@Published comes from Combine, which is Apple-only; use Observation",
    "FetchRequest": "@FetchRequest comes from SwiftUI, which is Apple-only",
    "objc_sync_enter": "objects have no monitors without Objective-C; use NSRecursiveLock or Mutex",
    "objc_sync_exit": "objects have no monitors without Objective-C; use NSRecursiveLock or Mutex",
    "NSClassFromString":
      "classes are not found by the names that models have; keep a dictionary from name to type, or compare "
      + "managedObjectClassName with that of Type.entity()",
    "ValueTransformer":
      "Foundation has no ValueTransformer here, CoreData has; write ValueTransformer without a module",
  ]

  private func _message(at index: Int, in tokens: [SourceToken], _ blocks: SourceBlocks) -> String? {
    let token = tokens[index]
    switch token.kind {
    case .directive: return _selector(at: index, in: tokens)
    case .string: return _string(at: index, in: tokens)
    case .identifier: break
    default: return nil
    }
    let previous = index > 0 ? tokens[index - 1] : nil
    if previous?.isKeyword("import") ?? false { return Self._modules[token.text] }
    if token.text == "NSFetchRequest", index > 1, tokens[index - 2].text == "as" {
      // `super.init(fetchRequest: request as! NSFetchRequest<any NSFetchRequestResult>, …)` of a generic controller.
      if index > 5, tokens[index - 4].text == ":", tokens[index - 5].text == "fetchRequest" {
        return
          "a cast between fetch requests fails here; a controller takes a request of any result type: 'fetchRequest: request'"
      }
      return
        "a cast between fetch requests fails here; pass the request as it is, or make NSFetchRequest<T>(entityName:)"
    }
    if token.text == "NSMutableSet", index > 1, tokens[index - 2].text == "as" {
      return
        "value(forKey:) of a to-many is no NSMutableSet here, so that it casts to a Swift set; take mutableSetValue(forKey:)"
    }
    if token.text == "predicateFormat", previous?.isPunctuation(".") ?? false,
      tokens.contains(where: { $0.text == "NSCompoundPredicate" })
    {
      return
        "prints FALSEPREDICATE for what NSCompoundPredicate's initialisers make here; use canonicalFormat"
    }
    if ClassBundle.isPassed(at: index, in: tokens) { return ClassBundle.remark }
    if ["willChangeValue", "didChangeValue"].contains(token.text) { return _keyValueChange(blocks) }
    guard let message = Self._names[token.text], _applies(index, in: tokens) else { return nil }
    return message
  }

  /// Whether a name refers to the subject of the remark.
  private func _applies(_ index: Int, in tokens: [SourceToken]) -> Bool {
    func next(_ ahead: Int) -> SourceToken? { index + ahead < tokens.count ? tokens[index + ahead] : nil }
    let calls = next(1)?.isPunctuation("(") ?? false
    let previous = index > 0 ? tokens[index - 1] : nil
    switch tokens[index].text {
    // `observe(\.title) { ... }`
    case "observe": return calls && next(2)?.isPunctuation("\\") ?? false
    case "addObserver": return Self._hasLabel("forKeyPath", after: index, in: tokens)
    case "removeObserver":
      return calls && next(2)?.isKeyword("self") ?? false && next(3)?.isPunctuation(")") ?? false
    case "publisher": return calls && next(2)?.isKeyword("for") ?? false
    case "perform": return calls && next(2)?.text == "#selector"
    case "responds": return calls && next(2)?.isKeyword("to") ?? false
    case "Published", "FetchRequest": return previous?.isPunctuation("@") ?? false
    case "NSClassFromString":
      return tokens[index...].prefix(12).contains { $0.text == "managedObjectClassName" }
    case "ValueTransformer":
      return index > 1 && tokens[index - 1].isPunctuation(".") && tokens[index - 2].text == "Foundation"
    default: return true
    }
  }

  private func _selector(at index: Int, in tokens: [SourceToken]) -> String? {
    guard tokens[index].text == "#selector", SelectorEdits.comparison(at: index, in: tokens) == nil,
      SelectorEdits.getter(at: index, in: tokens) == nil
    else { return nil }
    return
      "there are no selectors; pass a closure instead, and to a sort descriptor the name as text (\"localizedCompare:\")"
  }

  private func _string(at index: Int, in tokens: [SourceToken]) -> String? {
    let text = String(decoding: _bytes[tokens[index].range], as: UTF8.self)
    if text.contains("FUNCTION(") {
      return
        "FUNCTION calls methods through SelectorPerforming here; let the object's class adopt it and answer to the selector"
    }
    guard ["\"momd\"", "\"mom\"", "\"cdm\""].contains(text), index > 1, tokens[index - 1].isPunctuation(":"),
      ["withExtension", "ofType", "forResourcesOfType", "forResourcesWithExtension"]
        .contains(tokens[index - 2].text),
      !tokens[..<index].suffix(16).contains(where: { $0.isKeyword("module") })
    else { return nil }
    return
      "CoreDataModelPlugin puts compiled models among the target's resources; look in Bundle.module, not in a class's bundle"
  }

  /// Only managed objects have these methods.
  private func _keyValueChange(_ blocks: SourceBlocks) -> String? {
    guard let type = blocks.enclosingType, !_isManaged(type) else { return nil }
    if _survey.type(type.name, inheritsFrom: ["Operation"]) {
      return
        "an operation tells its queue by key path here: willChangeValue(for: \\.isFinished), didChangeValue(for: \\.isFinished)"
    }
    guard _survey.type(type.name, inheritsFrom: ["NSObject"]) else { return nil }
    return
      "there is no key-value observation; only managed objects announce changes, others tell their observers themselves"
  }

  private func _isManaged(_ type: TypeHead) -> Bool {
    _survey.type(type.name, inheritsFrom: ["NSManagedObject"])
  }

  /// Whether the call that starts after a name has an argument with this label.
  private static func _hasLabel(_ label: String, after index: Int, in tokens: [SourceToken]) -> Bool {
    var depth = 0
    for token in tokens[(index + 1)...].prefix(200) {
      if token.isPunctuation("(") { depth += 1 }
      if token.isPunctuation(")") {
        depth -= 1
        if depth == 0 { return false }
      }
      if depth == 1, token.isKeyword(label) { return true }
      if depth == 0 { return false }
    }
    return false
  }

  // MARK: Declarations

  private func _declaration(at index: Int, in tokens: [SourceToken], _ blocks: SourceBlocks) -> String? {
    let token = tokens[index]
    guard token.kind == .identifier else { return nil }
    switch token.text {
    case "override" where blocks.isDirectlyInExtension && !_isLabel(index, in: tokens):
      return
        "nothing is overridden in an extension without Objective-C; move it into the class, for which an entity whose class is "
        + "generated needs Category/Extension"
    case "func", "var": return _member(at: index, in: tokens, blocks)
    case "self" where _isInitialization(index, in: tokens) && _isInProtocolExtension(blocks):
      return
        "an initialiser in a protocol's extension needs one to call that all conforming types have; call "
        + "self.init(context:), require the initialiser in the protocol, or write a static function instead"
    default: return nil
    }
  }

  /// Whether a word is a parameter's name or an argument's label.
  private func _isLabel(_ index: Int, in tokens: [SourceToken]) -> Bool {
    index + 1 < tokens.count && tokens[index + 1].isPunctuation(":")
  }

  /// A method or property with `@objc` on which other code here depends.
  private func _member(at index: Int, in tokens: [SourceToken], _ blocks: SourceBlocks) -> String? {
    guard index + 1 < tokens.count, let selector = _objectiveCName(before: index, in: tokens) else {
      return nil
    }
    if blocks.isDirectlyInExtension, _survey.overridden.contains(tokens[index + 1].text) {
      return
        "a subclass overrides this, which is possible in an extension with Objective-C only; move it into the class"
    }
    guard tokens[index].text == "func", !selector.isEmpty, let type = blocks.enclosingType,
      _survey.type(type.name, inheritsFrom: ["NSEntityMigrationPolicy", "NSMigrationManager"])
    else { return nil }
    return
      "expressions call this by its selector; let \(type.name) adopt SelectorPerforming and call it for \"\(selector)\""
  }

  /// The selector in the `@objc(…)` before a declaration: empty for a bare `@objc`, nil without.
  private func _objectiveCName(before index: Int, in tokens: [SourceToken]) -> String? {
    var position = index - 1
    while position > 0, index - position < 40 {
      let token = tokens[position]
      if token.isPunctuation("{") || token.isPunctuation("}") || token.isPunctuation("=") { return nil }
      if token.isKeyword("func") || token.isKeyword("var") { return nil }
      if token.isKeyword("objc"), tokens[position - 1].isPunctuation("@") {
        guard tokens[position + 1].isPunctuation("(") else { return "" }
        return tokens[(position + 2)..<index].prefix { !$0.isPunctuation(")") }.map(\.text).joined()
      }
      position -= 1
    }
    return nil
  }

  private func _isInitialization(_ index: Int, in tokens: [SourceToken]) -> Bool {
    index + 2 < tokens.count && tokens[index + 1].isPunctuation(".") && tokens[index + 2].isKeyword("init")
  }

  private func _isInProtocolExtension(_ blocks: SourceBlocks) -> Bool {
    blocks.enclosingType.map { blocks.isInExtension && _survey.protocols.contains($0.name) } ?? false
  }

  // MARK: Imports

  private static let _coreDataNames: Set<String> = [
    "NSManagedObject", "NSManagedObjectContext", "NSManagedObjectID", "NSManagedObjectModel",
    "NSFetchRequest",
    "NSEntityDescription", "NSPersistentContainer", "NSPersistentStoreCoordinator",
    "NSFetchedResultsController",
    "NSFetchRequestResult",
  ]

  /// The first use of Core Data in a file that does not import it.
  private func _useWithoutImport(_ tokens: [SourceToken]) -> SourceToken? {
    let modules = ImportedModule.all(in: tokens).map { $0.path[0] }
    guard !modules.contains(where: { ["CoreData", "CoreDataStack", "CoreDataStacks"].contains($0) }) else {
      return nil
    }
    return tokens.first { $0.kind == .identifier && Self._coreDataNames.contains($0.text) }
  }
}

/// The braces that enclose a token.
struct SourceBlocks {
  private struct Block {
    /// The type whose members the block declares, if it is the body of a type.
    let type: TypeHead?
    let isExtension: Bool
    var parentheses = 0
  }

  private var _open: [Block] = []
  private var _ahead: (type: TypeHead, isExtension: Bool)?

  /// Whether the token is directly in the body of an extension.
  var isDirectlyInExtension: Bool { _open.last.map { $0.isExtension && $0.parentheses == 0 } ?? false }

  /// The innermost type that encloses the token.
  var enclosingType: TypeHead? { _open.last { $0.type != nil }?.type }

  /// Whether the innermost type that encloses the token is extended there.
  var isInExtension: Bool { _open.last { $0.type != nil }?.isExtension ?? false }

  mutating func consume(_ index: Int, in tokens: [SourceToken]) {
    let token = tokens[index]
    switch token.kind {
    case .identifier:
      guard ["class", "struct", "enum", "protocol", "extension", "actor"].contains(token.text),
        let head = TypeHead(at: index, in: tokens)
      else { return }
      _ahead = (head, token.text == "extension")
    case .punctuation: _consumePunctuation(token)
    default: return
    }
  }

  private mutating func _consumePunctuation(_ token: SourceToken) {
    switch token.text {
    case "{":
      _open.append(Block(type: _ahead?.type, isExtension: _ahead?.isExtension ?? false))
      _ahead = nil
    case "}": _ = _open.popLast()
    case "(": if !_open.isEmpty { _open[_open.count - 1].parentheses += 1 }
    case ")": if !_open.isEmpty { _open[_open.count - 1].parentheses -= 1 }
    default: return
    }
  }
}
