import CoreData
import CoreDataMicroHTTPDBinding
import Dispatch
import Foundation
import Testing

@testable import CoreDataExplorer

/// The search of all values.
@Suite struct SearchPageTests {
  private static func _library() throws -> Library {
    try Library { context in
      let author = Library.insert("Author", ["name": "Émile Zola"], into: context)
      _ = Library.insert(
        "Book",
        [
          "title": "Nana <b>", "pages": 472, "author": author,
          "published": Date(timeIntervalSinceReferenceDate: 0),
        ], into: context)
      _ = Library.insert(
        "Book", ["title": "Germinal", "notes": ["kept", "in Nana's archive"] as NSArray], into: context)
    }
  }

  @Test func `a search shows objects with the places of the text`() throws {
    let visitor = try Self._library().visit()
    let page = try visitor.get("/search?text=zola").text
    #expect(page.contains("<mark>Zola</mark>"))
    #expect(page.contains("href=\"/object?entity=Author&amp;key=1\""))
    #expect(page.contains("1 place in 1 object."))
    #expect(page.hasSuffix("</html>\n"))
  }

  @Test func `a search looks into archives and names the way`() throws {
    let page = try Self._library().visit().get("/search?text=nana").text
    #expect(page.contains("notes/") && page.contains("archive"))
    #expect(page.contains("2 places in 2 objects."))
    #expect(page.contains("<mark>Nana</mark> &lt;b&gt;"))
  }

  @Test func `the form stays above what is found`() throws {
    let page = try Self._library().visit().get("/search?text=zola&case=1").text
    #expect(page.contains("action=\"/search\"") && page.contains("value=\"zola\""))
  }

  @Test func `case and accents count on request`() throws {
    let visitor = try Self._library().visit()
    #expect(try visitor.get("/search?text=emile").text.contains("1 place"))
    #expect(try visitor.get("/search?text=emile&diacritics=1").text.contains("Nothing found."))
    #expect(try visitor.get("/search?text=nana&case=1").text.contains("Nothing found."))
    #expect(try visitor.get("/search?text=Ger.%2Bl&regex=1").text.contains("<mark>Germinal</mark>"))
  }

  @Test func `a search is limited to an entity`() throws {
    let visitor = try Self._library().visit()
    #expect(try visitor.get("/search?text=zola&entity=Book").text.contains("Nothing found."))
    #expect(try visitor.get("/search?text=zola&entity=Nothing").status == 404)
  }

  @Test func `a wrong expression is named`() throws {
    let answer = try Self._library().visit().get("/search?text=(&regex=1")
    #expect(answer.status == 400)
    #expect(answer.text.contains("is no regular expression"))
  }

  @Test func `the text of a search is never markup`() throws {
    let page = try Self._library().visit().get("/search?text=%3Cb%3E").text
    #expect(page.contains("Nana <mark>&lt;b&gt;</mark>"))
    #expect(!page.contains("<b>"))
  }

  @Test func `places beyond the limit are left out and told`() throws {
    let library = try Library { context in
      for number in 0..<50 { _ = Library.insert("Book", ["title": "same \(number)"], into: context) }
    }
    var limits = ExplorerLimits()
    limits.searchHits = 10
    let page = try library.visit(limits: limits).get("/search?text=same").text
    #expect(page.components(separatedBy: "<mark>").count == 11)
    #expect(page.contains("The first 10 places in 10 objects"))
  }

  @Test func `a search that takes too long says so in its page`() throws {
    let library = try Library { context in
      for number in 0..<3_000 { _ = Library.insert("Book", ["title": "same \(number)"], into: context) }
    }
    var limits = ExplorerLimits()
    limits.searchSeconds = 0
    let page = try library.visit(limits: limits).get("/search?text=nothing").text
    #expect(page.contains("This took longer than the limit of 0 s"))
    #expect(page.hasSuffix("</html>\n"))
  }

  @Test func `a page that takes long shows that it is alive`() throws {
    let gate = DispatchSemaphore(value: 0)
    let response = PageStream.answer(
      between: ("<begin>", "<end>"), QueryBudget(seconds: 600, client: nil), patience: 0, message: { "\($0)" }
    ) { stream in
      gate.wait()
      try stream.write(HTML("text"))
    }
    guard case .stream(let next) = response.body else {
      Issue.record("the page is not sent while it is written")
      return
    }
    func text() throws -> String? { try next().map { String(decoding: $0, as: UTF8.self) } }
    try #expect(text() == "<begin>")
    try #expect(text() == "<!-- still at it -->\n")
    gate.signal()
    var rest = ""
    while let piece = try text() { rest += piece }
    #expect(rest.replacing("<!-- still at it -->\n", with: "") == "text<end>")
  }

  @Test func `all pages have the search`() throws {
    let visitor = try Self._library().visit()
    for path in ["/", "/entity?name=Book", "/object?entity=Book&key=1", "/history", "/model", "/timeline"] {
      #expect(try visitor.get(path).text.contains("action=\"/search\""), "\(path)")
    }
  }
}
