import Foundation
import Synchronization

/// A service that a proxy and a container's host can do with as they are used to.
///
/// `GET /health` answers 200 while the service can work, and 503 while it can not or is about to end. SIGTERM and SIGINT end it
/// without an error for any client: it first says at `/health` that it will, and serves on for as long as a proxy may need to
/// notice; then it accepts no more connections, and exits once the open ones are answered.
public final class Service: Sendable {
  private let _isReady: @Sendable () -> Bool
  private let _answer: @Sendable (HTTPRequest) -> HTTPResponse
  private let _isEnding = Atomic<Bool>(false)

  /// - Parameters:
  ///   - isReady: whether the service can work; asked for each check of its health, on any thread.
  ///   - answer: answers any other request, on any thread.
  public init(
    isReady: @escaping @Sendable () -> Bool = { true },
    answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) {
    (_isReady, _answer) = (isReady, answer)
  }

  /// Serves until the process is told to end.
  ///
  /// - Parameters:
  ///   - port: 0 is any free port.
  ///   - capacity: the number of requests that are answered at once; others wait.
  ///   - notice: seconds between saying that the service ends and no longer accepting connections: a little more than a proxy
  ///     leaves between its checks.
  ///   - begun: called with the port once connections are accepted.
  ///   - end: called once all requests are answered, before the process exits.
  public func run(
    host: String = "127.0.0.1", port: UInt16, capacity: Int = 32, notice: TimeInterval = 0,
    begun: (UInt16) -> Void, end: @escaping @Sendable () -> Void
  ) throws -> Never {
    let listener = try Listener(host: host, port: port, capacity: capacity) { self._answer(to: $0) }
    let sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
      source.setEventHandler {
        guard !self._isEnding.exchange(true, ordering: .relaxed) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + notice) {
          listener.stop()
          end()
          exit(0)
        }
      }
      source.resume()
      return source
    }
    // A client that disconnects early must not end the service.
    signal(SIGPIPE, SIG_IGN)
    listener.start()
    begun(listener.port)
    withExtendedLifetime(sources) { dispatchMain() }
  }

  private func _answer(to request: HTTPRequest) -> HTTPResponse {
    guard request.path == "/health" else { return _answer(request) }
    guard request.method == "GET" else {
      return HTTPResponse(405, "/health does not know \(request.method).")
    }
    guard !_isEnding.load(ordering: .relaxed) else {
      return HTTPResponse(503, "The service is about to end.")
    }
    return _isReady()
      ? HTTPResponse(200, json: ["status": "ok"]) : HTTPResponse(503, "The service cannot work now.")
  }
}
