import Foundation
import Synchronization

/// A client of the server.
struct Visitor: Sendable {
  let port: UInt16

  struct Answer {
    let status: Int
    let body: Data
    var text: String { String(decoding: body, as: UTF8.self) }
  }

  struct Failure: Error {}

  func get(_ path: String) throws -> Answer { try _send("GET", path, "") }

  func post(_ path: String, _ body: String) throws -> Answer { try _send("POST", path, body) }

  func delete(_ path: String) throws -> Answer { try _send("DELETE", path, "") }

  func list(_ path: String) throws -> [[String: Any]] {
    try JSONSerialization.jsonObject(with: get(path).body) as? [[String: Any]] ?? []
  }

  func object(_ path: String) throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: get(path).body) as? [String: Any] ?? [:]
  }

  private func _send(_ method: String, _ path: String, _ body: String) throws -> Answer {
    let answer = try raw(
      "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    )
    let parts = answer.components(separatedBy: "\r\n\r\n")
    guard parts.count >= 2, let status = Int(parts[0].dropFirst(9).prefix(3)) else { throw Failure() }
    return Answer(status: status, body: Data(parts.dropFirst().joined(separator: "\r\n\r\n").utf8))
  }

  /// Sends the text unchanged, and reads until the server closes the connection.
  func raw(_ text: String) throws -> String {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard connection >= 0 else { throw Failure() }
    defer { close(connection) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    guard isConnected else { throw Failure() }
    let bytes = Array(text.utf8)
    var sent = 0
    while sent < bytes.count {
      // A server that refuses a long body responds before it has received all of it.
      let count = bytes[sent...].withUnsafeBytes {
        send(connection, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { break }
      sent += count
    }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      answer += buffer[..<count]
    }
    return String(decoding: answer, as: UTF8.self)
  }
}

/// Counts responses by status.
final class Outcomes: Sendable {
  private let _counts = Mutex<[Int: Int]>([:])

  func add(_ status: Int) { _counts.withLock { $0[status, default: 0] += 1 } }

  var text: String {
    _counts.withLock { $0 }.sorted { $0.key < $1.key }.map { "\($0.value) times \($0.key)" }
      .joined(separator: ", ")
  }
}
