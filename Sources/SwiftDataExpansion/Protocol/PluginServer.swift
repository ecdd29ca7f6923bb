import CoreDataJSON

/// Processes the compiler's requests in order, until there are no more.
///
/// An expansion depends only on its request: the compiler expands each declaration several times, in several
/// processes, and compares the results. A message may depend on earlier requests.
package struct PluginServer {
  /// The version of the protocol that is spoken. With an older compiler it is that compiler's.
  package static let protocolVersion = 7

  private let _channel: MessageChannel
  private let _log: (String) -> Void
  private let _inverses = NamedInverses()

  /// - Parameter log: Receives messages for the build's output.
  package init(channel: MessageChannel, log: @escaping (String) -> Void) {
    _channel = channel
    _log = log
  }

  /// Serves until the compiler ends the session.
  ///
  /// - Throws: `MessageChannel.Failure`, or errors of the channel's closures.
  package func run() throws {
    while let message = try _channel.next() { try _channel.send(Array(answer(to: message).utf8)) }
  }

  /// The response to a message. Every message needs one, or the compiler would wait for it.
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
      return MacroExpander.expand(request).adding(_inverses.review(request)).message
    default: return MacroExpansion.nothing.message
    }
  }
}
