import CoreDataToolKit
import Foundation

@testable import CoreDataExplorer

#if canImport(Glibc)
import Glibc
#endif

/// A scripted browser: speaks HTTP over a plain socket, so that it can send what no library would.
final class Visitor {
  /// The server's response.
  struct Answer {
    let status: Int
    let headers: [(name: String, value: String)]
    let bytes: [UInt8]

    var text: String { String(decoding: bytes, as: UTF8.self) }
    func header(_ name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }
  }

  /// The server sent no response.
  struct NoAnswer: Error {}

  let port: Int
  let token: String
  private(set) var cookie: String?
  private var _host: (explorer: Explorer, library: Library)?

  /// Opens the address that the terminal shows, by default.
  init(_ explorer: Explorer, entering: Bool = true) throws {
    let url = URLComponents(string: explorer.url)
    port = url?.port ?? 0
    token = url?.queryItems?.first?.value ?? ""
    if entering { try enter() }
  }

  deinit { _host?.explorer.stop() }

  /// Retains the library and the running explorer during the visitor's lifetime.
  func owning(_ explorer: Explorer, over library: Library) -> Visitor {
    _host = (explorer, library)
    return self
  }

  /// Exchanges the token for the cookie.
  func enter() throws {
    let answer = try get("/?token=\(token)")
    cookie = answer.header("set-cookie").flatMap { $0.split(separator: ";").first.map(String.init) }
  }

  func get(_ path: String, headers: [String: String] = [:]) throws -> Answer {
    try send("GET", path, headers: headers)
  }

  /// Posts a form, by default with the token from its page.
  func post(
    _ path: String, _ fields: KeyValuePairs<String, String>, formToken: String? = nil,
    headers: [String: String] = [:]
  ) throws -> Answer {
    let token = try formToken ?? self.formToken()
    let pairs = [("form-token", token)] + fields.map { ($0.key, $0.value) }
    let body = pairs.map { "\(Self.encoded($0.0))=\(Self.encoded($0.1))" }.joined(separator: "&")
    let all = ["Content-Type": "application/x-www-form-urlencoded", "Content-Length": "\(body.utf8.count)"]
    return try send("POST", path, headers: all.merging(headers) { $1 }, body: body)
  }

  /// Returns the token in the pages' forms; empty if there is none.
  func formToken() throws -> String {
    let text = try get("/new?entity=Author").text
    return text.split(separator: "name=\"form-token\" value=\"").dropFirst().first.map {
      String($0.prefix(64))
    } ?? ""
  }

  func send(
    _ method: String, _ path: String, headers: [String: String] = [:], body: String = ""
  ) throws -> Answer {
    let socket = try open()
    defer { close(socket) }
    write(head(method, path, headers) + body, to: socket)
    return try Self._parsed(Self._all(socket))
  }

  func head(_ method: String, _ path: String, _ headers: [String: String] = [:]) -> String {
    var lines = ["\(method) \(path) HTTP/1.0", "Connection: close"]
    var all = ["Host": "127.0.0.1:\(port)"]
    if let cookie { all["Cookie"] = cookie }
    for (name, value) in all.merging(headers, uniquingKeysWith: { $1 }) where !value.isEmpty {
      lines.append("\(name): \(value)")
    }
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }

  /// Opens a connection to the server.
  func open() throws -> Int32 {
    let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = UInt16(port).bigEndian
    place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &place) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw NoAnswer() }
    // What never comes fails a test, and does not end the run.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    return socket
  }

  func write(_ text: String, to socket: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private static func _all(_ socket: Int32) -> [UInt8] {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return result }
      result += buffer.prefix(count)
    }
  }

  private static func _parsed(_ bytes: [UInt8]) throws -> Answer {
    let blank = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: blank) }) else { throw NoAnswer() }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw NoAnswer()
    }
    let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (
        line[..<colon].lowercased(), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      )
    }
    return Answer(status: status, headers: headers, bytes: Array(bytes[(end + 4)...]))
  }

  static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
  }
}
