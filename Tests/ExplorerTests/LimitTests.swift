import Foundation
import Testing

@testable import CoreDataExplorer

#if canImport(Glibc)
import Glibc
#endif

/// Limits of exports, and of pages that follow the store.
@Suite struct LimitTests {
  private func _library(books: Int, title: (Int) -> String = { "book \($0)" }) throws -> Library {
    try Library { context in
      for number in 0..<books { _ = Library.insert("Book", ["title": title(number)], into: context) }
    }
  }

  private func _limits(_ change: (inout ExplorerLimits) -> Void) -> ExplorerLimits {
    var limits = ExplorerLimits()
    change(&limits)
    return limits
  }

  /// Returns everything that the server sends until it closes the connection, as in HTTP 1.1.
  private func _answer(_ visitor: Visitor, _ path: String) throws -> String {
    let socket = try visitor.open()
    defer { close(socket) }
    let head = visitor.head("GET", path).replacingOccurrences(of: "HTTP/1.0", with: "HTTP/1.1")
    visitor.write(head, to: socket)
    return Self._rest(socket)
  }

  private static func _rest(_ socket: Int32, until end: String? = nil) -> String {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while end.map({ !text.contains($0) }) ?? true {
      let count = recv(socket, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      text += String(decoding: buffer.prefix(count), as: UTF8.self)
    }
    return text
  }

  /// Polls until the server has noticed that a client has disconnected, which takes a second at most.
  private func _status(_ visitor: Visitor, _ path: String, becomes status: Int) throws -> Bool {
    for _ in 0..<200 {
      if try _head(visitor, path) == status { return true }
      usleep(50_000)
    }
    return false
  }

  /// Returns only the status, for endless responses.
  private func _head(_ visitor: Visitor, _ path: String) throws -> Int? {
    let socket = try visitor.open()
    defer { close(socket) }
    visitor.write(visitor.head("GET", path), to: socket)
    return Self._rest(socket, until: "\r\n").split(separator: " ").dropFirst().first.flatMap { Int($0) }
  }

  // MARK: Exports

  @Test func `an export within the limits has an end`() throws {
    let visitor = try _library(books: 10).visit()
    let answer = try _answer(visitor, "/export?as=ndjson&name=Book&columns=title")
    #expect(answer.hasPrefix("HTTP/1.1 200") && answer.hasSuffix("0\r\n\r\n"))
  }

  @Test func `an export of too many rows is cut visibly`() throws {
    let visitor = try _library(books: 900).visit(limits: _limits { $0.exportedRows = 500 })
    let answer = try _answer(visitor, "/export?as=ndjson&name=Book&columns=title")
    #expect(answer.contains("book "))
    #expect(!answer.hasSuffix("0\r\n\r\n"), "a client must not take it for the whole")
  }

  @Test func `an export without time left is refused in words`() throws {
    let visitor = try _library(books: 10).visit(limits: _limits { $0.exportSeconds = 0 })
    let answer = try visitor.get("/export?as=csv&name=Book&columns=title")
    #expect(answer.status == 503 && answer.text.contains("longer than the limit of 0 s"))
  }

  @Test func `one export too many is refused until a client leaves`() throws {
    // More than the buffers of a connection can contain.
    let library = try _library(books: 800) { "\($0)" + String(repeating: "x", count: 20_000) }
    let explorer = try library.explore(limits: _limits { $0.exports = 1 })
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    let path = "/export?as=csv&name=Book&columns=title"
    let stalled = try visitor.open()
    visitor.write(visitor.head("GET", path), to: stalled)
    #expect(Self._rest(stalled, until: "HTTP/1").contains("200"))
    let refused = try visitor.get(path)
    #expect(refused.status == 503 && refused.text.contains("The limit of exports at a time (1) is reached."))
    close(stalled)
    #expect(try _status(visitor, path, becomes: 200))
  }

  // MARK: Followers

  @Test func `one follower too many is refused until another leaves`() throws {
    let library = try _library(books: 1)
    let explorer = try library.explore(limits: _limits { $0.followers = 2 })
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    let followers = try (0..<2).map { _ in try visitor.open() }
    for follower in followers {
      visitor.write(visitor.head("GET", "/events"), to: follower)
      #expect(Self._rest(follower, until: "retry:").contains("text/event-stream"))
    }
    let refused = try visitor.get("/events")
    #expect(
      refused.status == 503
        && refused.text.contains("The limit of pages that follow the store (2) is reached."))
    #expect(try visitor.get("/").status == 200, "pages are still served")
    close(followers[0])
    #expect(try _status(visitor, "/events", becomes: 200))
    close(followers[1])
  }
}
