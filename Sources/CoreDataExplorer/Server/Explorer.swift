import CoreData
import CoreDataMicroHTTPDBinding
import CoreDataToolKit
import Foundation

/// Pages over a store, served to a browser on this machine. Runs until it is stopped.
package final class Explorer: Sendable {
  /// How the store is shown.
  package struct Options: Sendable {
    /// A model file, or nil for the model inside the store.
    package var model: String?
    /// A store to compare it with, or nil for none.
    package var against: String?
    /// Port to listen on; 0 for any free one.
    package var port = 0
    /// IPv4 address to listen on.
    package var address = "127.0.0.1"
    /// Whether the store may be changed.
    package var isEditable = false
    /// Recorded as the author of changes, in the store's history.
    package var author = "coredata explore"

    package init() {}
  }

  private let _server: HTTPServer
  private let _store: ExploredStore
  /// The address to open, with its token.
  package let url: String

  /// Opens the store and starts to serve it.
  ///
  /// - Throws: `ToolFailure`.
  package convenience init(
    _ path: String, _ options: Options, _ environment: ToolEnvironment
  ) throws(ToolFailure) {
    try self.init(path, options, environment, limits: ExplorerLimits())
  }

  init(
    _ path: String, _ options: Options, _ environment: ToolEnvironment, limits: ExplorerLimits
  ) throws(ToolFailure) {
    let store = try ExploredStore(
      path: path, model: options.model, against: options.against, isEdited: options.isEditable,
      limits: limits, environment)
    let secrets = Secrets()
    let session = options.isEditable ? try EditSession(store, author: options.author) : nil
    let router = Router(store: store, secrets: secrets, session: session)
    do {
      // The gatekeeper needs the port, which is known only once the server listens.
      let gate = Handover<Gatekeeper>()
      _server = try HTTPServer(
        address: options.address, port: options.port, limits: limits.http,
        admission: { gate.value.refusal(of: $0) }
      ) { request in
        let refusal = gate.value.answer(to: request)
        let answer = refusal.map(\._closing) ?? router.answer(to: request)
        return request.method == "HEAD" ? answer._withoutBody : answer
      }
      let gatekeeper = Gatekeeper(secrets: secrets, address: options.address, port: _server.port)
      gate.fill(gatekeeper)
      url = gatekeeper.url
    } catch {
      throw ToolFailure(
        .cannotCreateOutput, "The explorer \(error). Choose another with '--port', or leave it out.")
    }
    _store = store
  }

  /// Stops serving; waits for pages in progress.
  package func stop() {
    _store.clock.stop()
    _server.stop()
  }
}

/// A value that threads can wait for until it is set.
private final class Handover<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `_value` is written once, under the condition.
  private let _condition = NSCondition()
  private var _value: Value?

  var value: Value {
    _condition.lock()
    defer { _condition.unlock() }
    while _value == nil { _condition.wait() }
    return _value!
  }

  func fill(_ value: Value) {
    _condition.lock()
    _value = value
    _condition.broadcast()
    _condition.unlock()
  }
}

extension HTTPResponse {
  /// The same response for HEAD, to which the library sends no body, only its length if that is known. What would make the body
  /// is released at once.
  fileprivate var _withoutBody: HTTPResponse {
    guard case .stream = body else { return self }
    var copy = self
    copy.body = .stream { nil }
    return copy
  }

  /// The same response; a stranger's connection ends with it.
  fileprivate var _closing: HTTPResponse {
    guard status >= 400 else { return self }
    var copy = self
    copy.headers.append(("Connection", "close"))
    return copy
  }
}
