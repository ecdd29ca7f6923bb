import CoreDataPostgreSQLBinding
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQL

@Suite(.enabled(if: PostgreSQLServer.shared != nil, "\(PostgreSQLServer.absence)"))
struct CancellerTests {
  /// Accepts connections at a path, and closes them without a word, as a server does that is stopping.
  private final class ClosingServer: Sendable {
    private let _socket: Int32

    init(at path: String) throws {
      _socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let listens = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(_socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(_socket, 8) == 0
        }
      }
      try #require(listens)
      Thread.detachNewThread { [_socket] in
        while true {
          let connection = accept(_socket, nil, nil)
          if connection < 0 { return }
          close(connection)
        }
      }
    }

    // Ends the thread, which has the descriptor, before its number is another file's.
    deinit { shutdown(_socket, Int32(SHUT_RDWR)) }
  }

  @Test func `a cancellation that meets a stopping server does not end the process`() async {
    await #expect(processExitsWith: .success) {
      let shared = try #require(PostgreSQLServer.shared)
      let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("cancel-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      let path = directory.appendingPathComponent(".s.PGSQL.\(shared.port)").path
      try FileManager.default.createSymbolicLink(
        atPath: path, withDestinationPath: "\(shared.directory)/.s.PGSQL.\(shared.port)")
      let text = shared.newURL().absoluteString
      let url = try #require(URL(string: text.replacing(shared.directory, with: directory.path)))
      let canceller = try #require(ServerSession(url).connection.canceller())
      try FileManager.default.removeItem(atPath: path)
      let server = try ClosingServer(at: path)
      for _ in 0..<1000 { canceller.cancel() }
      withExtendedLifetime(server) {}
    }
  }
}
