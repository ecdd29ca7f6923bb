import Foundation
import Testing

@testable import CoreDataExplorer

/// Connections that only take up room: strangers cannot keep the owner out, nor have their bodies kept.
@Suite struct DoorTests {
  private let _library: Library

  init() throws {
    _library = try Library { _ = Library.insert("Author", ["name": "Anna Seghers"], into: $0) }
  }

  private func _explore(_ limits: (inout ExplorerLimits) -> Void = { _ in }) throws -> Explorer {
    var all = ExplorerLimits()
    limits(&all)
    return try _library.explore(limits: all)
  }

  /// What the server sends until it closes the connection.
  private func _received(_ socket: Int32) -> String {
    var result: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { return String(decoding: result, as: UTF8.self) }
      result += buffer.prefix(count)
    }
  }

  private func _isClosed(_ socket: Int32) -> Bool {
    var place = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    var byte: UInt8 = 0
    return poll(&place, 1, 0) > 0 && recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
  }

  @Test func `a stranger is refused before a long body is sent`() throws {
    let explorer = try _explore()
    defer { explorer.stop() }
    let stranger = try Visitor(explorer, entering: false)
    let socket = try stranger.open()
    defer { close(socket) }
    // Nothing of the body: the answer does not wait for it.
    stranger.write(
      stranger.head(
        "POST", "/changes/save",
        ["Content-Length": "8000000", "Content-Type": "application/x-www-form-urlencoded"]),
      to: socket)
    #expect(_received(socket).hasPrefix("HTTP/1.1 401"))
  }

  @Test func `a stranger with a short body gets the page that says so`() throws {
    let explorer = try _explore()
    defer { explorer.stop() }
    let answer = try Visitor(explorer, entering: false).post("/changes/save", ["x": "y"], formToken: "")
    #expect(answer.status == 401)
    #expect(answer.text.contains("Open the address"))
  }

  @Test func `a stranger's connection ends with the answer`() throws {
    let explorer = try _explore()
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    let socket = try visitor.open()
    defer { close(socket) }
    visitor.write("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(visitor.port)\r\n\r\n", to: socket)
    let answer = _received(socket).lowercased()
    #expect(answer.hasPrefix("http/1.1 401"))
    #expect(answer.contains("connection: close"))
  }

  @Test func `a request with two lengths is refused`() throws {
    let explorer = try _explore()
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    for other in ["Content-Length: 5", "Transfer-Encoding: chunked"] {
      let socket = try visitor.open()
      defer { close(socket) }
      // A line end is one character: the head goes without its blank line.
      let head = visitor.head("POST", "/changes/save", ["Content-Length": "3"])
        .replacingOccurrences(of: "HTTP/1.0", with: "HTTP/1.1").dropLast()
      visitor.write(head + other + "\r\n\r\nabc", to: socket)
      #expect(_received(socket).hasPrefix("HTTP/1.1 400"), "\(other)")
    }
  }

  @Test func `HEAD has the length of the page`() throws {
    let explorer = try _explore()
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    let style = try visitor.get("/style.css")
    let head = try visitor.send("HEAD", "/style.css")
    #expect(head.bytes.isEmpty)
    #expect(head.header("content-length") == String(style.bytes.count))
    // Pages say how long they took, so that no two are equal.
    let page = try visitor.send("HEAD", "/entity?name=Author")
    #expect(page.bytes.isEmpty && Int(page.header("content-length") ?? "") ?? 0 > 1000)
    #expect(try visitor.send("HEAD", "/export?name=Author&as=csv").header("content-length") == nil)
  }

  @Test func `a head that comes slowly is not waited for`() throws {
    let explorer = try _explore { $0.http.headSeconds = 0.5 }
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    let socket = try visitor.open()
    defer { close(socket) }
    // A byte now and then, which a deadline for idleness would take for progress.
    for byte in "GET / HTTP/1.1\r\nHost: 127.0.0.1" where !_isClosed(socket) {
      visitor.write(String(byte), to: socket)
      Thread.sleep(forTimeInterval: 0.1)
    }
    #expect(_received(socket) == "")
    #expect(try visitor.get("/").status == 200)
  }

  @Test func `a request that takes long is not ended by the deadline of heads`() throws {
    let explorer = try _explore { $0.http.headSeconds = 0.3 }
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    let socket = try visitor.open()
    defer { close(socket) }
    visitor.write(visitor.head("GET", "/events"), to: socket)
    Thread.sleep(forTimeInterval: 1)
    // Data is there, and the other end has not closed.
    var place = pollfd(fd: socket, events: Int16(POLLIN) | 0x2000, revents: 0)
    #expect(poll(&place, 1, 0) > 0 && place.revents == Int16(POLLIN))
  }

  @Test func `silent connections give way to a page`() throws {
    let explorer = try _explore { $0.http.headSeconds = 60 }
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    var sockets: [Int32] = []
    defer { for socket in sockets { close(socket) } }
    for _ in 0..<400 {
      if let socket = try? visitor.open() { sockets.append(socket) }
    }
    for _ in 0..<5 { #expect(try visitor.get("/").status == 200) }
    var closed = 0
    for _ in 0..<500 {
      closed = sockets.count { _isClosed($0) }
      if closed >= sockets.count - 128 { break }
      Thread.sleep(forTimeInterval: 0.01)
    }
    #expect(closed >= sockets.count - 128, "no more than the limit stay open")
  }
}
