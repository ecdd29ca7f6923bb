import CoreData
import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreDataExplorer

/// The page of a check that finds something.
@Suite struct CheckPageTests {
  @Test func `each finding says where, how bad it is, and what to do`() throws {
    let library = try Library { context in
      let author = Library.insert("Author", ["name": "Marieluise Fleißer"], into: context)
      for number in 1...3 {
        _ = Library.insert("Book", ["title": "Book \(number)", "author": author], into: context)
      }
    }
    let connection = try Connection(path: library.path, mode: .readWrite)
    try connection.execute("UPDATE ZBOOK SET ZAUTHOR = 999 WHERE Z_PK = 2")
    let page = try library.visit().get("/check").text
    #expect(page.contains("<article class=\"finding\">"))
    #expect(page.contains("ZBOOK: dangling"), "\(page)")
    #expect(page.contains("<a href=\"/object?entity=Book&amp;key=2\">ZBOOK 2</a>"), "\(page)")
    #expect(page.contains("To do: "))
    #expect(page.contains("coredata store check --repair"))
    #expect(!page.contains("found no problems"))
  }
}
