import Foundation
import Testing

@testable import CoreDataExplorer

/// Authentication and admission.
@Suite struct AdmissionTests {
  private let _library: Library
  private let _explorer: Explorer

  init() throws {
    _library = try Library { context in
      _ = Library.insert("Author", ["name": "Anna Seghers"], into: context)
    }
    _explorer = try _library.explore()
  }

  @Test func `the printed address lets in`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer)
    let page = try visitor.get("/")
    #expect(page.status == 200)
    #expect(page.text.contains("Author"))
  }

  @Test func `a wrong token and none are refused`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer, entering: false)
    let wrong = String(repeating: "0", count: 64)
    for path in [
      "/", "/?token=\(wrong)", "/?token=", "/entity?name=Author", "/export?name=Author&as=csv", "/events",
    ] {
      let answer = try visitor.get(path)
      #expect(answer.status == 401, "\(path)")
      #expect(!answer.text.contains("Seghers"), "\(path)")
      #expect(answer.header("set-cookie") == nil, "\(path)")
    }
    #expect(
      try visitor.get("/", headers: ["Cookie": "coredata-explorer-\(visitor.port)=\(wrong)"]).status == 401)
  }

  @Test func `the cookie is strict and out of scripts' reach`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer, entering: false)
    let cookie = try #require(try visitor.get("/?token=\(visitor.token)").header("set-cookie"))
    #expect(cookie.contains("; HttpOnly"))
    #expect(cookie.contains("; SameSite=Strict"))
    #expect(!cookie.contains(visitor.token), "the token is worth nothing in the cookie")
  }

  @Test func `a foreign host is refused even with the cookie`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer)
    for host in [
      "evil.example", "evil.example:\(visitor.port)", "127.0.0.1", "127.0.0.1.evil.example:\(visitor.port)",
      "192.168.0.1:\(visitor.port)", "localhost:1",
    ] {
      let answer = try visitor.get("/", headers: ["Host": host])
      #expect(answer.status == 421, "\(host)")
    }
    for host in ["127.0.0.1:\(visitor.port)", "localhost:\(visitor.port)", "LOCALHOST:\(visitor.port)"] {
      #expect(try visitor.get("/", headers: ["Host": host]).status == 200, "\(host)")
    }
  }

  @Test func `other methods are refused`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer)
    for method in ["PUT", "DELETE", "OPTIONS", "PATCH"] {
      #expect(try visitor.send(method, "/").status == 405, "\(method)")
    }
    #expect(try visitor.send("HEAD", "/").status == 200)
  }

  @Test func `a post of another site is refused`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer)
    let own = "http://127.0.0.1:\(visitor.port)"
    let cases: [([String: String], String?)] = [
      (["Origin": "https://evil.example"], nil), (["Origin": "null"], nil),
      (["Sec-Fetch-Site": "cross-site"], nil), (["Sec-Fetch-Site": "same-site"], nil),
      (["Origin": own], "0"), ([:], String(repeating: "0", count: 64)),
    ]
    for (headers, token) in cases {
      let answer = try visitor.post("/changes/save", [:], formToken: token ?? "", headers: headers)
      #expect(answer.status == 403, "\(headers)")
    }
  }

  @Test func `a post of no form, and one too long, are refused`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer)
    let json = try visitor.send(
      "POST", "/changes/save", headers: ["Content-Type": "application/json", "Content-Length": "2"],
      body: "{}")
    #expect(json.status == 415)
    let long = String(repeating: "a", count: 9 << 20)
    let answer = try visitor.post("/changes/save", ["x": long], formToken: "")
    #expect(answer.status == 413)
  }

  @Test func `pages allow nothing but the explorer's own files`() throws {
    defer { _explorer.stop() }
    let visitor = try Visitor(_explorer)
    for path in ["/", "/entity?name=Author", "/nowhere"] {
      let page = try visitor.get(path)
      let policy = try #require(page.header("content-security-policy"), "\(path)")
      #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
      #expect(!policy.contains("unsafe") && !policy.contains("http"))
      #expect(page.header("x-content-type-options") == "nosniff")
      #expect(page.header("referrer-policy") == "same-origin")
      #expect(page.header("x-frame-options") == "DENY")
      #expect(page.header("cache-control") == "no-store")
      #expect(
        !page.text.contains(" style=\"") && !page.text.contains("<style") && !page.text.contains(" onclick"))
    }
  }
}
