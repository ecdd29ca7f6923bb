import CoreDataJSON

/// Answers the compiler's requests one after the other, until it has no more.
///
/// An answer depends on its request only: the compiler has each declaration expanded several times, by several
/// processes, and compares.
package struct PluginServer {
  /// The version of the protocol that is spoken. With an older compiler it is that compiler's.
  package static let protocolVersion = 7

  private let _channel: MessageChannel
  private let _log: (String) -> Void

  /// - Parameter log: Takes what a person should see in the build's output.
  package init(channel: MessageChannel, log: @escaping (String) -> Void) {
    _channel = channel
    _log = log
  }

  /// Serves until the compiler ends the conversation.
  ///
  /// - Throws: `MessageChannel.Failure`, or what the channel's closures throw.
  package func run() throws {
    while let message = try _channel.next() { try _channel.send(Array(answer(to: message).utf8)) }
  }

  /// The answer to a message. Every message has one, or the compiler would wait for it.
  package func answer(to message: [UInt8]) -> String {
    do {
      return _answer(to: try JSONValue(parsing: message)).text
    } catch {
      _log("a message of \(message.count) bytes is no JSON: \(error)")
      return MacroExpansion.nothing.message.text
    }
  }

  private func _answer(to message: JSONValue) -> JSONValue {
    guard case .object(let members) = message, let request = members.first else {
      _log("a message is no request: \(message.kind)")
      return MacroExpansion.nothing.message
    }
    switch request.name {
    case "getCapability":
      let theirs = request.value["capability"]?["protocolVersion"]?.integer ?? Self.protocolVersion
      return .members([
        (
          "getCapabilityResult",
          .members([
            (
              "capability",
              .members([
                ("protocolVersion", .integer(min(max(theirs, 0), Self.protocolVersion))),
                ("features", .array([])),
              ])
            )
          ])
        )
      ])
    case "expandAttachedMacro", "expandFreestandingMacro":
      guard let request = ExpansionRequest(request.value) else {
        _log("a request '\(request.name)' lacks its macro or its source")
        return MacroExpansion.nothing.message
      }
      return MacroExpander.expand(request).message
    default: return MacroExpansion.nothing.message
    }
  }
}
