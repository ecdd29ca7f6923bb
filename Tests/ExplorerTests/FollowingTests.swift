import CoreData
import Foundation
import Testing

@testable import CoreDataExplorer

/// Pages that follow the store, history, exports, SQL, completion, limits.
@Suite struct FollowingTests {
  @Test func `a change of another context reaches a follower`() throws {
    let library = try Library()
    let explorer = try library.explore()
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    let socket = try visitor.open()
    defer { close(socket) }
    visitor.write(visitor.head("GET", "/events?since=0"), to: socket)
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    func read(until part: String) {
      while !text.contains(part) {
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        text += String(decoding: buffer.prefix(count), as: UTF8.self)
      }
    }
    read(until: "retry: ")
    try library.write { _ = Library.insert("Author", ["name": "Mascha Kaléko"], into: $0) }
    read(until: "data: ")
    #expect(text.contains("text/event-stream") && text.contains("data: "))
    #expect(try visitor.get("/entity?name=Author").text.contains("Mascha Kaléko"))
  }

  @Test func `a change counts from when a clock is asked to follow`() throws {
    let library = try Library()
    let clocks = (0..<40).map { _ in ChangeClock() }
    for clock in clocks { clock.follow(library.path) }
    try library.write { _ = Library.insert("Author", ["name": "Mascha Kaléko"], into: $0) }
    defer { for clock in clocks { clock.stop() } }
    let times = clocks.map { $0.wait(after: 0, seconds: 10) }
    #expect(!times.contains(0) && !times.contains(nil))
  }

  @Test func `history names authors and changes`() throws {
    let library = try Library()
    try library.write(author: "importer") { _ = Library.insert("Author", ["name": "Joseph Roth"], into: $0) }
    try library.write(author: "editor") { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).first?.setValue(
        "Roth, Joseph", forKey: "name")
    }
    let visitor = try library.visit()
    let all = try visitor.get("/history").text
    #expect(all.contains("<b>importer</b>") && all.contains("<b>editor</b>"))
    #expect(all.contains("2 transactions"))
    let one = try visitor.get("/history?author=editor").text
    #expect(!one.contains("<b>importer</b>") && one.contains("<b>editor</b>"))
    let object = try visitor.get("/object?entity=Author&key=1").text
    #expect(object.contains("<b>inserted</b>") && object.contains("<b>updated</b>"))
  }

  @Test func `an export has all pages of what is shown`() throws {
    let library = try Library { context in
      for number in 1...700 {
        _ = Library.insert("Book", ["title": "a,\"\(number)", "pages": number], into: context)
      }
    }
    let visitor = try library.visit()
    let query = "name=Book&columns=title,pages&sort=-pages&where=\(Visitor.encoded("pages > 100"))"
    let csv = try visitor.get("/export?as=csv&\(query)")
    let lines = csv.text.components(separatedBy: "\r\n")
    #expect(lines.count == 602)
    #expect(lines[0] == "$id,title,pages" && lines[1].hasSuffix(",\"a,\"\"700\",700"))
    let json =
      try JSONSerialization.jsonObject(with: Data(try visitor.get("/export?as=json&\(query)").bytes))
      as? [[String: Any]]
    #expect(json?.count == 600)
    let ndjson = try visitor.get("/export?as=ndjson&\(query)").text.split(separator: "\n")
    #expect(ndjson.count == 600)
    let none = try visitor.get("/export?as=json&name=Author").text
    #expect(none == "[]\n")
  }

  @Test func `the SQL page says what index is missing`() throws {
    let library = try Library { _ = Library.insert("Book", ["title": "x"], into: $0) }
    let visitor = try library.visit()
    let slow = try visitor.get("/sql?name=Book&where=\(Visitor.encoded("pages > 10"))").text
    #expect(slow.contains("SCAN") && slow.contains("Add a fetch index on &#39;pages&#39; to Book"))
    let quick = try visitor.get("/sql?name=Book&where=\(Visitor.encoded("title == 'x'"))").text
    #expect(quick.contains("SEARCH") && !quick.contains("Add a fetch index"))
  }

  @Test func `key paths are completed through relationships`() throws {
    let library = try Library()
    let visitor = try library.visit()
    func options(_ text: String) throws -> [String] {
      let answer = try visitor.get("/complete?name=Book&text=\(Visitor.encoded(text))")
      let json = try JSONSerialization.jsonObject(with: Data(answer.bytes)) as? [String: Any]
      return (json?["options"] as? [[String: String]] ?? []).compactMap { $0["text"] }
    }
    #expect(try options("pages > 3 AND ti").first == "title")
    #expect(try options("author.n") == ["name"])
    #expect(try options("ANY author.books.ti") == ["title"])
    #expect(try options("title == \"au").isEmpty)
    #expect(try options("nothing.x").isEmpty)
  }

  @Test func `model and check have their pages`() throws {
    let library = try Library { _ = Library.insert("Author", ["name": "Marieluise Fleißer"], into: $0) }
    let visitor = try library.visit()
    #expect(try visitor.get("/model").text.contains("byTitle: title"))
    #expect(try visitor.get("/check").text.contains("found no problems"))
  }

  @Test func `a check that takes long shows how far it is, and then its result`() throws {
    let library = try Library { _ = Library.insert("Author", ["name": "Marieluise Fleißer"], into: $0) }
    var limits = ExplorerLimits()
    limits.checkPatience = 0
    let visitor = try library.visit(limits: limits)
    var page = try visitor.get("/check")
    // The check may be further than its first part by now.
    #expect(page.text.contains("<progress"))
    #expect(page.text.contains(#/Checking [^,]+, [0-9]+ %\./#))
    let next = try #require(page.header("refresh")?.split(separator: "=", maxSplits: 1).last.map(String.init))
    for _ in 0..<1000 where page.header("refresh") != nil {
      Thread.sleep(forTimeInterval: 0.01)
      // Others go on writing; the check of the first page is shown nevertheless.
      try library.write { _ = Library.insert("Author", ["name": "Else Lasker-Schüler"], into: $0) }
      page = try visitor.get(next)
    }
    #expect(page.text.contains("found no problems"))
  }
}
