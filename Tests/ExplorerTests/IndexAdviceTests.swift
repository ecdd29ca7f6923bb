import CoreData
import Foundation
import Testing

@testable import CoreDataExplorer

/// What the page of a table says about indexes.
@Suite struct IndexAdviceTests {
  private static func _page(_ query: String) throws -> String {
    let library = try Library { context in
      let author = Library.insert("Author", ["name": "Marieluise Fleißer"], into: context)
      for number in 1...60 {
        _ = Library.insert(
          "Book", ["title": "Book \(number)", "pages": number, "author": author], into: context)
      }
    }
    return try library.visit().get("/sql?name=Book&\(query)").text
  }

  @Test(arguments: [
    ("where=title%20CONTAINS%20%22x%22", "No index helps a search within 'title'"),
    ("where=title%20%3D%3D%5Bc%5D%20%22x%22", "without regard to case or accents uses no index"),
    ("where=pages%20%2B%201%20%3D%3D%207", "no condition compares an attribute of Book"),
    ("where=pages%20%3D%3D%207", "index on 'pages'"),
    ("where=pages%20%3D%3D%207%20OR%20title%20CONTAINS%20%22x%22", "No index helps a search within 'title'"),
    ("sort=author.name", "Sorting by 'author.name', a column of another table"),
    ("sort=pages", "index on 'pages'"),
  ])
  func `a scan and a sort are explained`(_ query: String, _ sentence: String) throws {
    let page = try Self._page(query).replacing("&#39;", with: "'")
    #expect(page.contains(sentence), "\(page.suffix(4000))")
  }
}
