import CoreData
import Foundation
import Testing

@testable import CoreDataExplorer

/// One object, its relationships, bytes and row.
@Suite struct ObjectTests {
  @Test func `a relationship leads there and back`() throws {
    let library = try Library { context in
      let author = Library.insert("Author", ["name": "Irmgard Keun"], into: context)
      _ = Library.insert("Book", ["title": "Gilgi", "author": author], into: context)
    }
    let visitor = try library.visit()
    let book = try visitor.get("/object?entity=Book&key=1").text
    #expect(
      book.contains(
        "href=\"/object?entity=Author&amp;key=1\" class=\"object\" title=\"Author/p1\">Irmgard Keun"))
    let author = try visitor.get("/object?entity=Author&key=1").text
    #expect(
      author.contains("href=\"/object?entity=Book&amp;key=1\" class=\"object\" title=\"Book/p1\">Gilgi"))
  }

  @Test func `members beyond the first hundred come by pages`() throws {
    let library = try Library { context in
      let author = Library.insert("Author", ["name": "Vicki Baum"], into: context)
      for number in 1...230 {
        _ = Library.insert("Book", ["title": "book \(number)", "author": author], into: context)
      }
    }
    let visitor = try library.visit()
    var keys: Set<String> = []
    for from in [0, 100, 200] {
      let page = try visitor.get("/members?entity=Author&key=1&name=books&from=\(from)").text
      keys.formUnion(
        page.components(separatedBy: "data-row=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) })
    }
    #expect(keys.count == 230)
    #expect(
      try visitor.get("/object?entity=Author&key=1").text.contains(
        "/members?entity=Author&amp;key=1&amp;name=books&amp;from=100"))
  }

  @Test func `pictures are shown and other bytes only saved`() throws {
    let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0])
    let page = Data("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8)
    let library = try Library { context in
      _ = Library.insert("Book", ["title": "1", "cover": picture], into: context)
      _ = Library.insert("Book", ["title": "2", "cover": page], into: context)
      try context.save()
    }
    let visitor = try library.visit()
    var seen: Set<[UInt8]> = []
    for key in 1...2 {
      let answer = try visitor.get("/blob?entity=Book&key=\(key)&name=cover")
      seen.insert(answer.bytes)
      #expect(answer.header("content-security-policy")?.contains("sandbox") == true)
      #expect(answer.header("x-content-type-options") == "nosniff")
      if answer.bytes == [UInt8](picture) {
        #expect(answer.header("content-type") == "image/png")
      } else {
        #expect(answer.header("content-type") == "application/octet-stream")
        #expect(answer.header("content-disposition")?.hasPrefix("attachment") == true)
      }
    }
    #expect(seen == [[UInt8](picture), [UInt8](page)])
  }

  @Test func `pages of missing things are not found`() throws {
    let library = try Library()
    let visitor = try library.visit()
    for path in [
      "/object?entity=Book&key=9", "/object?entity=Nothing&key=1", "/object", "/entity?name=%3Cb%3E",
      "/nowhere",
      "/blob?entity=Book&key=1&name=cover", "/blob?entity=Book&key=1&name=title",
      "/members?entity=Book&key=1&name=x",
      "/export?name=Book&as=exe", "/object?entity=Book&key=-9223372036854775808",
    ] {
      #expect(try visitor.get(path).status == 404, "\(path)")
    }
  }

  @Test func `names and values of a hostile store stay text`() throws {
    let attack = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    let library = try Library { context in
      let author = Library.insert("Author", ["name": attack], into: context)
      _ = Library.insert(
        "Book", ["title": attack, "author": author, "cover": Data(attack.utf8)], into: context)
    }
    let visitor = try library.visit(Library.editing)
    let encoded = Visitor.encoded(attack)
    for path in [
      "/", "/entity?name=Author", "/entity?name=Book", "/entity?name=\(encoded)",
      "/entity?name=Book&where=\(encoded)",
      "/entity?name=Book&columns=\(encoded)", "/entity?name=Book&sort=\(encoded)",
      "/entity?name=Book&after=\(encoded)",
      "/object?entity=Book&key=1", "/object?entity=Author&key=1", "/object?entity=\(encoded)&key=1",
      "/history",
      "/history?author=\(encoded)", "/model", "/check", "/\(encoded)", "/edit?entity=Book&key=1",
      "/edit?entity=\(encoded)",
      "/sql?name=Book&where=\(Visitor.encoded("title == \"\(attack.replacingOccurrences(of: "\"", with: "\\\""))\""))",
    ] {
      let text = try visitor.get(path).text
      #expect(!text.contains("<script>") && !text.contains("<img src=x"), "\(path)")
    }
  }

  @Test func `characters that change text direction are made visible`() {
    #expect(HTML("a\u{202E}b\u{0}c").markup == "a\u{FFFD}b\u{FFFD}c")
    #expect(HTML.tag("a", ["title": "\"<'>&"], "x").markup == "<a title=\"&quot;&lt;&#39;&gt;&amp;\">x</a>")
  }
}

extension ObjectTests {
  @Test func `attributes without a value are folded if there are many`() throws {
    let library = try Library { _ = Library.insert("Book", ["title": "alone"], into: $0) }
    let page = try library.visit().get("/object?entity=Book&key=1").text
    let parts = page.components(separatedBy: "<details class=\"empty\">")
    #expect(parts.count == 2)
    #expect(parts[0].contains("data-row=\"title\"") && !parts[0].contains("data-row=\"pages\""))
    #expect(parts[1].contains("7 attributes without a value") && parts[1].contains("data-row=\"pages\""))
  }

  @Test func `long names may break where a word begins`() {
    #expect(HTML.name("firstPublicationDate").markup == "first<wbr>Publication<wbr>Date")
    #expect(HTML.name("a.b_c").markup == "a.<wbr>b_<wbr>c")
    #expect(HTML.name("URL<b>").markup == "URL&lt;b&gt;")
  }
}
