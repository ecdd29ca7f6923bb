import CoreDataCMicroHTTPD
import Foundation

/// An HTTP server on libmicrohttpd, with a thread for each connection and a bounded number of connections.
package final class HTTPServer: @unchecked Sendable {
  // Unchecked: only `init` and `stop` write `_daemon`, and they never run concurrently.

  /// Responds to a request, on the thread of its connection.
  package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

  /// The limits of the server.
  package struct Limits: Sendable {
    /// Maximum number of connections. For a further one the oldest is closed that has not sent a request's head, or else that
    /// waits for the next request, or else the further one itself.
    package var connections = 128
    /// Seconds within which a new connection's first head must be complete.
    package var headSeconds = 5.0
    /// Seconds after which an idle connection is closed.
    package var idleSeconds = 60
    /// Maximum number of bytes of a request's body.
    package var bodyBytes = 8 << 20
    /// Maximum number of bytes of a request's line and headers.
    package var headBytes = 32 << 10

    package init() {}
  }

  /// Why a server could not be started.
  package struct StartError: Error, CustomStringConvertible, Sendable {
    package let address: String
    package let port: Int
    package let code: Int32
    package var description: String {
      "cannot listen on \(address):\(port): \(String(cString: strerror(code)))"
    }
  }

  private var _daemon: OpaquePointer?
  private let _service: Unmanaged<HTTPService>
  /// Port that the server listens on.
  package let port: Int

  /// Decides on a request that brings a body when only its head is known: with a response the body is not kept.
  package typealias Admission = @Sendable (HTTPRequest) -> HTTPResponse?

  /// Starts listening.
  ///
  /// - Parameters:
  ///   - address: An IPv4 address as four numbers.
  ///   - port: 0 for any free one.
  /// - Throws: `StartError`.
  package init(
    address: String = "127.0.0.1", port: Int, limits: Limits = Limits(),
    admission: @escaping Admission = { _ in nil },
    handler: @escaping Handler
  ) throws(StartError) {
    var numeric = in_addr()
    guard inet_pton(AF_INET, address, &numeric) == 1, let number = UInt16(exactly: port) else {
      throw StartError(address: address, port: port, code: EINVAL)
    }
    let service = Unmanaged.passRetained(HTTPService(handler, admission, limits))
    errno = 0
    guard
      let daemon = coredata_http_start(
        // The library closes further connections without a choice; here there is one.
        numeric.s_addr, number, UInt32(limits.connections + 64), UInt32(limits.idleSeconds), limits.headBytes,
        8 << 20, HTTPService.access, HTTPService.completed, HTTPService.notified, service.toOpaque())
    else {
      let code = errno
      service.release()
      throw StartError(address: address, port: port, code: code == 0 ? EADDRNOTAVAIL : code)
    }
    _service = service
    _daemon = daemon
    self.port = Int(coredata_http_port(daemon))
  }

  deinit {
    stop()
    _service.release()
  }

  /// Stops listening, and waits for requests in progress.
  package func stop() {
    guard let daemon = _daemon else { return }
    _daemon = nil
    MHD_stop_daemon(daemon)
  }
}
