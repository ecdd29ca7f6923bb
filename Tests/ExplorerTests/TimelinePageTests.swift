import CoreData
import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataExplorer

/// The dates of objects over time.
@Suite struct TimelinePageTests {
  private static let _day = 86_400.0

  /// Books of the first days of 2001, and one of the year 1.
  private static func _visitor(_ count: Int = 5) throws -> Visitor {
    try Library { context in
      for number in 0..<count {
        _ = Library.insert(
          "Book",
          [
            "title": "book \(number)",
            "published": Date(timeIntervalSinceReferenceDate: Double(number) * _day),
          ], into: context)
      }
      _ = Library.insert("Book", ["title": "never", "published": Date.distantPast], into: context)
      _ = Library.insert(
        "Novel", ["title": "a novel", "published": Date(timeIntervalSinceReferenceDate: 1)], into: context)
    }.visit()
  }

  @Test func `events come in order with their objects`() throws {
    let page = try Self._visitor().get("/timeline?entity=Book").text
    let titles = page.components(separatedBy: "class=\"object\"").dropFirst().map { piece in
      String(piece.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" })
    }
    #expect(titles == ["book 0", "a novel", "book 1", "book 2", "book 3", "book 4"])
    #expect(page.contains("2001-01-01 00:00:00"))
    #expect(page.contains("1 before 1970 or after 2100"))
  }

  @Test func `transactions are events of the whole store only`() throws {
    let visitor = try Self._visitor()
    #expect(try visitor.get("/timeline").text.contains("transaction 1"))
    #expect(try !visitor.get("/timeline?entity=Book").text.contains("transaction 1"))
  }

  @Test func `an entity's timeline has its subentities, a subentity's only its own`() throws {
    let page = try Self._visitor().get("/timeline?entity=Novel").text
    #expect(page.contains("a novel") && !page.contains("book 1"))
  }

  @Test func `a bar leads to its part of the time`() throws {
    let visitor = try Self._visitor()
    let page = try visitor.get("/timeline?entity=Book").text
    let last = try #require(
      page.components(separatedBy: "<a href=\"/timeline?").last { $0.contains("aria-label") })
    let address = String(last.prefix { $0 != "\"" }).replacing("&amp;", with: "&")
    let part = try visitor.get("/timeline?\(address)").text
    #expect(part.contains("book 4") && !part.contains("book 3"))
    #expect(part.contains("Zoom out") && part.contains("Earlier"))
  }

  @Test func `dates are read as people write them`() throws {
    let visitor = try Self._visitor()
    let page = try visitor.get("/timeline?entity=Book&from=2001-01-02&to=2001-01-03").text
    #expect(page.contains("book 1") && page.contains("book 2"))
    #expect(!page.contains("book 0") && !page.contains("book 3"))
    #expect(try visitor.get("/timeline?entity=Book&from=0000&to=0002").text.contains("never"))
    let wrong = try visitor.get("/timeline?from=soon")
    #expect(wrong.status == 400 && wrong.text.contains("is no date"))
    #expect(try visitor.get("/timeline?from=2002&to=2001").text.contains("before the beginning"))
  }

  @Test func `a moment of a remote year has its bar`() throws {
    let remote = 3.0e13 + 0.5
    let visitor = try Library { context in
      _ = Library.insert(
        "Book", ["title": "remote", "published": Date(timeIntervalSinceReferenceDate: remote)], into: context)
    }.visit()
    let moment = Visitor.encoded(ISODate.text(remote))
    let page = try visitor.get("/timeline?entity=Book&from=\(moment)&to=\(moment)").text
    #expect(page.contains("remote") && page.contains("1 event"))
  }

  @Test func `events come by pages`() throws {
    let visitor = try Self._visitor(230)
    var titles: Set<String> = []
    for skip in [0, 100, 200] {
      let page = try visitor.get("/timeline?entity=Book&skip=\(skip)").text
      titles.formUnion(
        page.components(separatedBy: "class=\"object\"").dropFirst().map { String($0.prefix { $0 != "<" }) })
    }
    #expect(titles.count == 231)
  }

  @Test func `a model without dates has an empty timeline`() throws {
    let page = try Self._visitor().get("/timeline?entity=Author").text
    #expect(page.contains("There are no dates."))
  }

  @Test func `the history's axis ends with the last transaction`() throws {
    let library = try Library { _ = Library.insert("Author", ["name": "Ada"], into: $0) }
    try library.write { _ = Library.insert("Author", ["name": "Bob"], into: $0) }
    let page = try library.visit().get("/history").text
    let moments = page.components(separatedBy: "<time datetime=\"").dropFirst().map {
      $0.prefix { $0 != "\"" }
    }
    // The axis' first and last, and the transactions, latest first.
    #expect(moments.count == 4)
    #expect(moments[0] == moments[3] && moments[1] == moments[2])
  }
}
