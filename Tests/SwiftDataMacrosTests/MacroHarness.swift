import CoreDataJSON

@testable import SwiftDataExpansion

/// Calls the plugin as the compiler does, message by message.
struct MacroHarness {
  /// The result of a macro.
  struct Answer: Equatable {
    struct Remark: Equatable {
      let severity: String
      let message: String
      /// The text at the diagnostic's position.
      let place: String
      /// The source with the first fix-it applied.
      let fixed: String?
    }

    let source: String?
    let remarks: [Remark]
  }

  static let file = "/Sources/App/Models.swift"
  /// Bytes before the declaration in its file.
  static let offset = 1000

  static func server() -> PluginServer {
    PluginServer(channel: MessageChannel(read: { _ in 0 }, write: { $0.count }), log: { _ in })
  }

  static func piece(_ source: String) -> JSONValue {
    .members([
      ("kind", .string("declaration")), ("source", .string(source)),
      (
        "location",
        .members([
          ("fileID", .string("App/Models.swift")), ("fileName", .string(file)), ("line", .integer(1)),
          ("column", .integer(1)), ("offset", .integer(offset)),
        ])
      ),
    ])
  }

  /// Expands an attached macro.
  static func attached(
    _ type: String, _ role: String, to declaration: String, in parent: String? = nil,
    attribute: String = "@Model",
    missing: String? = "Observable, PersistentModel, Sendable", extending: String? = nil,
    context: [String] = [], by server: PluginServer = server()
  ) -> Answer {
    var members: [(String, JSONValue)] = [
      (
        "macro",
        .members([
          ("moduleName", .string("SwiftDataMacros")), ("typeName", .string(type)),
          ("name", .string("Model ")),
        ])
      ),
      ("macroRole", .string(role)), ("discriminator", .string("$s1")), ("attributeSyntax", piece(attribute)),
      ("declSyntax", piece(declaration)), ("lexicalContext", .array(context.map(piece))),
    ]
    if let parent { members.append(("parentDeclSyntax", piece(parent))) }
    if let extending { members.append(("extendedTypeSyntax", piece(extending))) }
    if let missing { members.append(("conformanceListSyntax", piece("struct Placeholder: \(missing) {}"))) }
    return _answer(
      to: .members([("expandAttachedMacro", .members(members))]), source: declaration, by: server)
  }

  /// Expands a freestanding macro.
  static func freestanding(_ type: String, _ source: String, context: [String]) -> Answer {
    let request: JSONValue = .members([
      (
        "expandFreestandingMacro",
        .members([
          ("macro", .members([("moduleName", .string("SwiftDataMacros")), ("typeName", .string(type))])),
          ("macroRole", .string("declaration")), ("syntax", piece(source)),
          ("lexicalContext", .array(context.map(piece))),
        ])
      )
    ])
    return _answer(to: request, source: source, by: server())
  }

  /// The members that `@Model` adds to a class.
  static func members(of source: String, isSubclass: Bool = false) -> Answer {
    attached(
      "ModelMacro", "member", to: source, missing: isSubclass ? nil : "Observable, PersistentModel, Sendable")
  }

  private static func _answer(to request: JSONValue, source: String, by server: PluginServer) -> Answer {
    let text = server.answer(to: Array(request.text.utf8))
    guard let answer = try? JSONValue(parsing: Array(text.utf8)), let result = answer["expandMacroResult"],
      case .array(let diagnostics)? = result["diagnostics"]
    else { return Answer(source: "no answer: \(text)", remarks: []) }
    return Answer(source: result["expandedSource"]?.string, remarks: diagnostics.map { _remark($0, source) })
  }

  private static func _remark(_ json: JSONValue, _ source: String) -> Answer.Remark {
    let bytes = Array(source.utf8)
    func range(_ json: JSONValue?) -> Range<Int> {
      let start = (json?["startOffset"]?.integer ?? 0) - offset
      let end = (json?["endOffset"]?.integer ?? 0) - offset
      guard json?["fileName"]?.string == file, start >= 0, end >= start, end <= bytes.count else {
        return 0..<0
      }
      return start..<end
    }
    var place = ""
    if case .array(let highlights)? = json["highlights"], let first = highlights.first,
      first["startOffset"]?.integer == json["position"]?["offset"]?.integer
    {
      place = String(decoding: bytes[range(first)], as: UTF8.self)
    }
    var fixed: String?
    if case .array(let fixIts)? = json["fixIts"], let fixIt = fixIts.first,
      case .array(let changes)? = fixIt["changes"]
    {
      var result = bytes
      for change in changes {
        result.replaceSubrange(range(change["range"]), with: Array((change["newText"]?.string ?? "").utf8))
      }
      fixed = String(decoding: result, as: UTF8.self)
    }
    return Answer.Remark(
      severity: json["severity"]?.string ?? "", message: json["message"]?.string ?? "", place: place,
      fixed: fixed)
  }
}
