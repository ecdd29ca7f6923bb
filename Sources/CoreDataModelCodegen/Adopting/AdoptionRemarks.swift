/// Finds what no rewriting can carry over.
enum AdoptionRemarks {
  private static let _modules: [String: String] = [
    "Combine":
      "Combine is Apple's only; observe NSManagedObjectContextObjectsDidChange instead, or guard the import",
    "SwiftUI": "SwiftUI is Apple's only; keep views in a target of their own",
    "UIKit": "UIKit is Apple's only; keep views in a target of their own",
    "AppKit": "AppKit is Apple's only; keep views in a target of their own",
    "CloudKit": "CloudKit is Apple's only",
    "ObjectiveC": "there is no Objective-C runtime; guard the import",
  ]

  private static let _names: [String: String] = [
    "observe": "there is no key-value observation; observe the context's notifications instead",
    "addObserver": "there is no key-value observation; observe the context's notifications instead",
    "publisher":
      "publishers come from Combine, which is Apple's only; use the notification centre or an AsyncSequence",
    "NSPersistentCloudKitContainer": "there is no CloudKit; use NSPersistentContainer",
    "NSCoreDataCoreSpotlightDelegate": "there is no Spotlight",
    "perform": "methods cannot be called by selector",
    "responds": "methods cannot be looked up by selector",
    "ObservableObject": "ObservableObject comes from Combine, which is Apple's only; use Observation",
    "Published": "@Published comes from Combine, which is Apple's only; use Observation",
    "FetchRequest": "@FetchRequest comes from SwiftUI, which is Apple's only",
  ]

  static func remarks(_ tokens: [SourceToken]) -> [SourceAdoption.Remark] {
    var remarks: [SourceAdoption.Remark] = []
    var blocks = Blocks()
    for (index, token) in tokens.enumerated() {
      blocks.take(token)
      let override =
        token.isKeyword("override") && blocks.isDirectlyInExtension
        ? "nothing is overridden in an extension without Objective-C; move it into the class, for which an entity whose class is "
          + "generated needs Category/Extension" : nil
      if let message = override ?? _message(token, at: index, in: tokens) {
        remarks.append(SourceAdoption.Remark(line: token.line, column: token.column, message: message))
      }
    }
    return remarks
  }

  /// The braces around a token.
  private struct Blocks {
    /// Whether each is an extension's, outermost first.
    private var _open: [Bool] = []
    private var _isExtensionAhead = false

    var isDirectlyInExtension: Bool { _open.last ?? false }

    mutating func take(_ token: SourceToken) {
      if token.isKeyword("extension") { _isExtensionAhead = true }
      if token.isPunctuation("{") {
        _open.append(_isExtensionAhead)
        _isExtensionAhead = false
      }
      if token.isPunctuation("}") { _ = _open.popLast() }
    }
  }

  private static func _message(_ token: SourceToken, at index: Int, in tokens: [SourceToken]) -> String? {
    func next(_ ahead: Int) -> SourceToken? { index + ahead < tokens.count ? tokens[index + ahead] : nil }
    let previous = index > 0 ? tokens[index - 1] : nil
    if token.kind == .directive, token.text == "#selector" {
      return
        "there are no selectors; pass a closure instead, and to a sort descriptor the name as text (\"localizedCompare:\")"
    }
    guard token.kind == .identifier else { return nil }
    if previous?.isKeyword("import") ?? false { return _modules[token.text] }
    if token.text == "NSFetchRequest", index > 1, tokens[index - 2].text == "as" {
      return
        "a cast between fetch requests fails here; pass the request as it is, or make NSFetchRequest<T>(entityName:)"
    }
    if token.text == "NSMutableSet", index > 1, tokens[index - 2].text == "as" {
      return
        "value(forKey:) of a to-many is no NSMutableSet here, so that it casts to a Swift set; take mutableSetValue(forKey:)"
    }
    guard let message = _names[token.text] else { return nil }
    switch token.text {
    case "observe":
      // `observe(\.title) { ... }`
      return next(1)?.isPunctuation("(") ?? false && next(2)?.isPunctuation("\\") ?? false ? message : nil
    case "addObserver":
      return _hasLabel("forKeyPath", after: index, in: tokens) ? message : nil
    case "publisher":
      return next(1)?.isPunctuation("(") ?? false && next(2)?.isKeyword("for") ?? false ? message : nil
    case "perform":
      return next(1)?.isPunctuation("(") ?? false && next(2)?.text == "#selector" ? message : nil
    case "responds":
      return next(1)?.isPunctuation("(") ?? false && next(2)?.isKeyword("to") ?? false ? message : nil
    case "Published", "FetchRequest":
      return previous?.isPunctuation("@") ?? false ? message : nil
    default: return message
    }
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
}
