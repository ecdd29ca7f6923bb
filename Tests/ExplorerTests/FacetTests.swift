import CoreData
import Foundation
import Testing

@testable import CoreDataExplorer

/// The values of a column.
@Suite struct FacetTests {
  private static func _visitor() throws -> Visitor {
    try Library { context in
      let author = Library.insert("Author", ["name": "Vicki Baum"], into: context)
      for number in 0..<20 {
        _ = Library.insert(
          number < 15 ? "Book" : "Novel",
          [
            "title": number.isMultiple(of: 2) ? "even \"2\"" : "odd", "pages": number * 10,
            "published": Date(timeIntervalSinceReferenceDate: Double(number) * 86_400), "inPrint": number < 5,
            "author": author,
          ], into: context)
      }
      _ = Library.insert("Book", ["title": "odd"], into: context)
    }.visit()
  }

  /// The addresses of the page's links to tables, with their texts.
  private static func _links(_ page: String) -> [(address: String, text: String)] {
    page.components(separatedBy: "<a href=\"/entity?").dropFirst().map { piece in
      let address = String(piece.prefix { $0 != "\"" }).replacing("&amp;", with: "&")
      return ("/entity?\(address)", String(piece.drop { $0 != ">" }.dropFirst().prefix { $0 != "<" }))
    }
  }

  @Test func `values come with their numbers, the most frequent first`() throws {
    let page = try Self._visitor().get("/facet?name=Book&column=title").text
    let rows = page.components(separatedBy: "facet-value").dropFirst().map { piece in
      piece.components(separatedBy: "class=\"num\">")[1].prefix { $0 != "<" }
    }
    #expect(rows == ["11", "10"])
    #expect(page.contains("21 objects"))
  }

  @Test(arguments: ["title", "pages", "inPrint", "author", "published"])
  func `each value leads to its rows`(column: String) throws {
    let visitor = try Self._visitor()
    let page = try visitor.get("/facet?name=Book&column=\(column)").text
    let numbers = page.components(separatedBy: "facet-value").dropFirst().map { piece in
      String(piece.components(separatedBy: "class=\"num\">")[1].prefix { $0 != "<" })
    }
    let table = try #require(page.components(separatedBy: "<tbody>").last)
    let links = Self._links(table)
    #expect(links.count == numbers.count)
    for (link, number) in zip(links, numbers) {
      let rows = try visitor.get(link.address).text
      #expect(rows.contains("\(number) object"), "\(link.address)")
    }
  }

  @Test(arguments: ["pages", "published"])
  func `the bars of a histogram lead to all rows`(column: String) throws {
    let visitor = try Self._visitor()
    let page = try visitor.get("/facet?name=Book&column=\(column)").text
    let figure = try #require(
      page.components(separatedBy: "<figure").last?.components(separatedBy: "</figure>").first)
    var total = 0
    for link in Self._links(figure) {
      let rows = try visitor.get(link.address).text
      total += rows.components(separatedBy: "data-row=\"").count - 1
    }
    #expect(total == 20)
  }

  @Test func `a filter holds for the values, too`() throws {
    let visitor = try Self._visitor()
    let page = try visitor.get("/facet?name=Book&column=title&where=pages%20%3E%20100").text
    #expect(page.contains("9 objects"))
    let first = try #require(Self._links(page.components(separatedBy: "<tbody>").last ?? "").first)
    #expect(try visitor.get(first.address).text.contains("5 objects"))
  }

  @Test func `objects are counted by entity`() throws {
    let visitor = try Self._visitor()
    #expect(try visitor.get("/entity?name=Book").text.contains("Objects by entity"))
    let page = try visitor.get("/facet?name=Book&column=%24id").text
    let links = Self._links(page.components(separatedBy: "<tbody>").last ?? "")
    #expect(links.map(\.text) == ["Book", "Novel"])
    #expect(try visitor.get(links[0].address).text.contains("16 objects"))
  }

  @Test func `columns without values to count are refused`() throws {
    let visitor = try Self._visitor()
    #expect(try visitor.get("/facet?name=Author&column=books").status == 400)
    #expect(try visitor.get("/facet?name=Book&column=cover").status == 400)
    #expect(try visitor.get("/facet?name=Book&column=nothing").status == 400)
  }
}
