import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A network between programs and a server that stalls or is cut at a message of one's choice. Listens on a port of the
/// local host until `stop()`.
public final class PostgreSQLProxy: Sendable {
  /// What happens at a message of a client.
  public struct Fault: Sendable {
    public enum Kind: String, Sendable, CaseIterable {
      /// Nothing passes any more on the connection, which stays open.
      case stall
      /// The connection is closed on both sides.
      case cut
      /// Nothing passes any more on any connection, also on new ones.
      case silence
    }

    public var kind: Kind
    /// Whether the message still reaches the server, whose answer does not return.
    public var passesMessage: Bool
    /// The number of the message among all that clients send from now on.
    public var message: Int

    public init(_ kind: Kind, passesMessage: Bool, at message: Int) {
      self.kind = kind
      self.passesMessage = passesMessage
      self.message = message
    }
  }

  private struct State {
    var fault: Fault?
    var count = 0
    var hasHappened = false
    var isSilent = false
    var isStopped = false
    var sockets: [Socket] = []
  }

  /// The port to connect to.
  public let port: Int
  private let _listener: Socket
  private let _server: String
  private let _state = Mutex(State())

  /// A socket, closed once no thread has it any more: a number that is closed earlier may be another file's by the time
  /// that a thread uses it.
  private final class Socket: Sendable {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Ends what waits for the socket.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  /// A connection through the proxy.
  private final class Line: Sendable {
    let client: Socket
    let server: Socket
    let isStalled = Atomic<Bool>(false)

    init(_ client: Socket, _ server: Socket) {
      self.client = client
      self.server = server
    }

    func cut() {
      client.end()
      server.end()
    }
  }

  private struct Failure: Error {}

  public init(_ server: PostgreSQLServer) throws {
    _server = "\(server.directory)/.s.PGSQL.\(server.port)"
    _listener = Socket(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = _listener.descriptor
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
      }
    }
    guard isBound else { throw Failure() }
    port = Int(UInt16(bigEndian: address.sin_port))
    Thread.detachNewThread { [self] in _accept() }
  }

  /// Closes everything.
  public func stop() {
    _listener.end()
    let sockets = _state.withLock { state in
      state.isStopped = true
      defer { state.sockets = [] }
      return state.sockets
    }
    for socket in sockets { socket.end() }
  }

  /// Lets a fault happen, counting messages from here.
  public func arm(_ fault: Fault) {
    _state.withLock { state in
      state.fault = fault
      state.count = 0
      state.hasHappened = false
    }
  }

  /// Messages since a fault was armed, up to the one at which it has happened.
  public var messageCount: Int { _state.withLock { $0.count } }

  /// Whether the fault has happened.
  public var hasHappened: Bool { _state.withLock { $0.hasHappened } }

  /// Returns the URL of a store of the server through the proxy.
  public func url(_ url: URL) -> URL {
    var components = URLComponents(url: url, resolvingAgainstBaseURL: false)!
    components.host = "127.0.0.1"
    components.port = port
    components.queryItems =
      (components.queryItems ?? []).filter { !["host", "port"].contains($0.name) }
      + [URLQueryItem(name: "sslmode", value: "disable"), URLQueryItem(name: "gssencmode", value: "disable")]
    return components.url!
  }

  // MARK: Connections

  private func _accept() {
    while true {
      let descriptor = accept(_listener.descriptor, nil, nil)
      if descriptor < 0 { return }
      let client = Socket(descriptor)
      guard let server = _connect() else { continue }
      let line = Line(client, server)
      let isStopped = _state.withLock { state in
        state.sockets += [client, server]
        return state.isStopped
      }
      if isStopped { return line.cut() }
      Thread.detachNewThread { [self] in _passMessages(line) }
      Thread.detachNewThread { [self] in _passAnswers(line) }
    }
  }

  private func _connect() -> Socket? {
    let server = Socket(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: _server.utf8) }
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(server.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    return isConnected ? server : nil
  }

  private func _read(_ socket: Socket) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(socket.descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  private func _write(_ bytes: some Collection<UInt8>, to socket: Socket) {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count <= 0 { return }
      rest = rest.dropFirst(count)
    }
  }

  private func _isSilent(_ line: Line) -> Bool {
    line.isStalled.load(ordering: .acquiring) || _state.withLock { $0.isSilent }
  }

  /// Waits until the line or the proxy is closed, passing nothing.
  private func _stall(_ line: Line) { while _read(line.client) != nil {} }

  private func _passMessages(_ line: Line) {
    var pending: [UInt8] = []
    var isFirst = true
    while let bytes = _read(line.client) {
      if _isSilent(line) { return _stall(line) }
      pending += bytes
      // The first message has a length only, the others have a type before it.
      while let size = Self._size(pending, isFirst) {
        let message = pending[..<size]
        pending.removeFirst(size)
        isFirst = false
        switch _fault() {
        case nil: _write(message, to: line.server)
        case let fault?:
          if fault.kind == .silence { _state.withLock { $0.isSilent = true } }
          line.isStalled.store(true, ordering: .releasing)
          if fault.passesMessage { _write(message, to: line.server) }
          // The server may not be done with it yet.
          if fault.kind == .cut, fault.passesMessage { usleep(50_000) }
          return fault.kind == .cut ? line.cut() : _stall(line)
        }
      }
    }
    line.cut()
  }

  private static func _size(_ bytes: [UInt8], _ isFirst: Bool) -> Int? {
    let start = isFirst ? 0 : 1
    guard bytes.count >= start + 4 else { return nil }
    let size = start + bytes[start..<(start + 4)].reduce(0) { $0 << 8 + Int($1) }
    return bytes.count >= size ? size : nil
  }

  /// Counts a message, and returns what happens at it.
  private func _fault() -> Fault? {
    _state.withLock { state in
      guard let fault = state.fault, !state.hasHappened else { return nil }
      defer { state.count += 1 }
      guard state.count == fault.message else { return nil }
      state.hasHappened = true
      return fault
    }
  }

  private func _passAnswers(_ line: Line) {
    while let bytes = _read(line.server) {
      if _isSilent(line) { continue }
      _write(bytes, to: line.client)
    }
    if !_isSilent(line) { line.cut() }
  }
}
