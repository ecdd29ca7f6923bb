import CoreDataSwiftLexer

/// Removes tokens that `#if` excludes on the current platform.
///
/// If a condition cannot be evaluated, such as one on a custom flag, all of its branches are kept: accessors
/// for a property that is then not compiled do no harm.
struct ConditionalBlocks {
  private enum Truth {
    case yes, no, unknown

    var negated: Truth {
      switch self {
      case .yes: .no
      case .no: .yes
      case .unknown: .unknown
      }
    }
  }

  private struct Block {
    /// Whether the current branch may be compiled.
    var isKept: Bool
    /// Whether an earlier branch certainly is.
    var isSettled: Bool
  }

  static func active(_ tokens: [SourceToken]) -> [SourceToken] {
    var blocks: [Block] = []
    var kept: [SourceToken] = []
    var index = 0
    while index < tokens.count {
      let token = tokens[index]
      index += 1
      guard token.kind == .directive, ["#if", "#elseif", "#else", "#endif"].contains(token.text) else {
        if blocks.allSatisfy(\.isKept) { kept.append(token) }
        continue
      }
      let start = index
      if token.text == "#if" || token.text == "#elseif" {
        while index < tokens.count, tokens[index].line == token.line { index += 1 }
      }
      switch token.text {
      case "#if":
        var condition = Condition(Array(tokens[start..<index]))
        let truth = condition.evaluate()
        blocks.append(Block(isKept: truth != .no, isSettled: truth == .yes))
      case "#elseif":
        guard let block = blocks.popLast() else { continue }
        var condition = Condition(Array(tokens[start..<index]))
        let truth = block.isSettled ? .no : condition.evaluate()
        blocks.append(Block(isKept: truth != .no, isSettled: block.isSettled || truth == .yes))
      case "#else":
        guard let block = blocks.popLast() else { continue }
        blocks.append(Block(isKept: !block.isSettled, isSettled: true))
      default: _ = blocks.popLast()
      }
    }
    return kept
  }

  /// A condition after `#if`, evaluated while it is parsed.
  private struct Condition {
    private let _tokens: [SourceToken]
    private var _position = 0

    init(_ tokens: [SourceToken]) { _tokens = tokens }

    mutating func evaluate() -> Truth { _or() }

    private func _peek(_ sign: String, ahead: Int = 0) -> Bool {
      _position + ahead < _tokens.count && _tokens[_position + ahead].isPunctuation(sign)
    }

    private mutating func _or() -> Truth {
      var truth = _and()
      while _peek("|"), _peek("|", ahead: 1) {
        _position += 2
        let other = _and()
        truth = truth == .yes || other == .yes ? .yes : truth == .no && other == .no ? .no : .unknown
      }
      return truth
    }

    private mutating func _and() -> Truth {
      var truth = _term()
      while _peek("&"), _peek("&", ahead: 1) {
        _position += 2
        let other = _term()
        truth = truth == .no || other == .no ? .no : truth == .yes && other == .yes ? .yes : .unknown
      }
      return truth
    }

    private mutating func _term() -> Truth {
      if _peek("!") {
        _position += 1
        return _term().negated
      }
      if _peek("(") {
        _position += 1
        let truth = _or()
        if _peek(")") { _position += 1 }
        return truth
      }
      guard _position < _tokens.count else { return .unknown }
      let name = _tokens[_position].text
      _position += 1
      guard _peek("(") else { return Self._flag(name) }
      _position += 1
      var argument: String?
      var depth = 1
      while _position < _tokens.count, depth > 0 {
        let token = _tokens[_position]
        if token.isPunctuation("(") { depth += 1 }
        if token.isPunctuation(")") { depth -= 1 }
        if argument == nil, token.isName { argument = token.text }
        _position += 1
      }
      return Self._call(name, argument ?? "")
    }

    private static func _flag(_ name: String) -> Truth {
      switch name {
      case "true", "SWIFT_PACKAGE": .yes
      case "false": .no
      default: .unknown
      }
    }

    private static func _call(_ name: String, _ argument: String) -> Truth {
      switch name {
      case "os":
        #if os(Linux)
        return argument == "Linux" ? .yes : .no
        #else
        return .unknown
        #endif
      case "canImport": return _canImport(argument)
      case "swift", "compiler": return .unknown
      case "targetEnvironment": return .no
      default: return .unknown
      }
    }

    /// Modules that only Apple's platforms have, and modules that every platform has.
    private static func _canImport(_ module: String) -> Truth {
      switch module {
      case "Swift", "Foundation", "CoreData", "Dispatch", "Observation", "Synchronization": .yes
      case "ObjectiveC", "Combine", "SwiftUI", "UIKit", "AppKit", "WatchKit", "CloudKit", "Darwin",
        "CoreSpotlight",
        "os", "OSLog", "CoreGraphics", "MapKit", "CoreLocation", "SwiftData", "WidgetKit":
        .no
      default: .unknown
      }
    }
  }
}
