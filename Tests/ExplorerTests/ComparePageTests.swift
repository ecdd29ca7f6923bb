import CoreData
import Foundation
import Testing

@testable import CoreDataExplorer

/// Two stores side by side.
@Suite struct ComparePageTests {
  /// A library with a copy of its store from before some changes.
  private static func _library() throws -> (library: Library, copy: String) {
    let library = try Library { context in
      for name in ["stays", "goes", "alters"] {
        _ = Library.insert("Book", ["title": name, "pages": 1], into: context)
      }
    }
    let copy = library.directory.appendingPathComponent("Copy.sqlite")
    let coordinator = library.container.persistentStoreCoordinator
    try coordinator.replacePersistentStore(
      at: copy, destinationOptions: nil, withPersistentStoreFrom: library.store, sourceOptions: nil,
      ofType: NSSQLiteStoreType)
    try library.write { context in
      let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
      for book in books {
        switch book.value(forKey: "title") as? String {
        case "goes": context.delete(book)
        case "alters": book.setValue(2, forKey: "pages")
        default: break
        }
      }
      _ = Library.insert("Book", ["title": "comes"], into: context)
    }
    return (library, copy.path)
  }

  private static func _visitor(_ path: (Library, String)) throws -> Visitor {
    var options = Explorer.Options()
    options.against = path.1
    return try path.0.visit(options)
  }

  @Test func `objects that came, went and changed are shown side by side`() throws {
    let page = try Self._visitor(Self._library()).get("/compare").text
    let changes = page.components(separatedBy: "<article class=\"change\">").dropFirst()
    #expect(changes.count == 3)
    #expect(changes.contains { $0.contains("− removed") && $0.contains("<del>") && $0.contains("goes") })
    #expect(changes.contains { $0.contains("+ added") && $0.contains("<ins>") && $0.contains("comes") })
    let altered = try #require(changes.first { $0.contains("~ changed") })
    #expect(altered.contains("pages") && !altered.contains("title"))
    #expect(page.contains("Copy.sqlite&#39; before, &#39;Library.sqlite&#39; after"))
  }

  @Test func `a store does not differ from itself`() throws {
    let (library, _) = try Self._library()
    let page = try Self._visitor((library, library.path)).get("/compare").text
    #expect(page.contains("No object differs") && !page.contains("<article"))
  }

  @Test func `one entity is compared on request`() throws {
    let page = try Self._visitor(Self._library()).get("/compare?entity=Author").text
    #expect(page.contains("No object differs"))
  }

  @Test func `without a second store there is no comparison`() throws {
    let visitor = try Library().visit()
    #expect(try visitor.get("/compare").status == 404)
    #expect(try !visitor.get("/").text.contains("/compare"))
  }
}
