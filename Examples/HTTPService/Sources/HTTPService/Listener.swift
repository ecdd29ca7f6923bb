import Foundation

/// Accepts connections and handles each on a separate thread, at most `capacity` at a time; further
/// connections wait in the kernel's queue.
///
/// Handles one request per connection, which must arrive within ten seconds. Put a service on the open
/// internet behind a proxy that handles TLS and HTTP/2.
final class Listener: Sendable {
  /// The actual port, even if 0 was requested.
  let port: UInt16
  private let _socket: Int32
  private let _capacity: Int
  private let _places: DispatchSemaphore
  private let _answer: @Sendable (HTTPRequest) -> HTTPResponse

  struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
  }

  /// Binds the address; connections are accepted after `start`.
  init(
    host: String, port: UInt16, capacity: Int, answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) throws {
    _capacity = capacity
    _places = DispatchSemaphore(value: capacity)
    _answer = answer
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
      errno = EINVAL
      throw Failure("'\(host)' is no IPv4 address")
    }
    _socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard _socket >= 0 else { throw Failure("No socket") }
    var yes: Int32 = 1
    setsockopt(_socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = _socket
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, size) == 0 && listen(socket, 128) == 0
          && getsockname(socket, address, &size) == 0
      }
    }
    guard bound else {
      let failure = Failure("Cannot listen on \(host):\(port)")
      close(_socket)
      throw failure
    }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  /// Starts accepting connections.
  func start() { Thread.detachNewThread { self._accept() } }

  /// Stops accepting connections, and waits until the open ones are finished.
  func stop() {
    shutdown(_socket, Int32(SHUT_RDWR))
    for _ in 0..<_capacity { _places.wait() }
  }

  private func _accept() {
    while true {
      _places.wait()
      let connection = accept(_socket, nil, nil)
      guard connection >= 0 else {
        let error = errno
        _places.signal()
        switch error {
        case EINTR, ECONNABORTED: continue
        // Out of descriptors or memory: requests in progress will free some.
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: Thread.sleep(forTimeInterval: 0.1)
        default: return
        }
        continue
      }
      Thread.detachNewThread {
        HTTPConnection(connection).answer(self._answer)
        self._places.signal()
      }
    }
  }
}
