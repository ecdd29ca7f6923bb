import CoreData
import CoreDataModelSchema
import Foundation
import Testing

@testable import CoreDataExplorer

/// Pages of an entity's objects.
@Suite struct TableTests {
  /// Returns books some of which have no title, and some the same one.
  private static func _books(_ count: Int) throws -> Library {
    try Library { context in
      for number in 1...count {
        let values: [String: Any] = [
          "pages": number % 7, "published": Date(timeIntervalSinceReferenceDate: Double(number % 5) + 0.1),
          "price": Double(number % 4) / 3,
        ]
        let book = Library.insert("Book", values, into: context)
        if number % 6 != 0 { book.setValue("title \(number % 10)", forKey: "title") }
        if number % 3 != 0 { book.setValue(UUID(), forKey: "isbn") }
      }
    }
  }

  /// Returns keys in the order of a table, page by page from a start.
  private static func _keys(_ visitor: Visitor, _ query: String, follow relation: String = "next") throws
    -> [[String]]
  {
    var pages: [[String]] = []
    var path: String? = "/entity?name=Book&rows=7" + query
    while let next = path, pages.count < 100 {
      let page = try visitor.get(next)
      #expect(page.status == 200, "\(next)")
      pages.append(Self._rows(page.text))
      path = Self._link(page.text, relation)
    }
    return pages
  }

  private static func _rows(_ text: String) -> [String] {
    text.components(separatedBy: "data-row=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
  }

  private static func _link(_ text: String, _ relation: String) -> String? {
    guard let end = text.range(of: "\" rel=\"\(relation)\"") else { return nil }
    let before = text[..<end.lowerBound]
    guard let start = before.range(of: "href=\"", options: .backwards) else { return nil }
    return before[start.upperBound...].replacingOccurrences(of: "&amp;", with: "&")
  }

  @Test(arguments: [
    "", "title", "-title", "pages", "-pages", "published", "-published", "price", "isbn", "-isbn", "-$id",
  ])
  func `pages follow each other without gap or repetition`(sort: String) throws {
    let library = try Self._books(53)
    let visitor = try library.visit()
    let query = sort.isEmpty ? "" : "&sort=\(Visitor.encoded(sort))"
    let all = try visitor.get("/entity?name=Book&rows=200" + query)
    let expected = Self._rows(all.text)
    #expect(Set(expected).count == 53)
    #expect(try Self._keys(visitor, query).flatMap { $0 } == expected)
    let backwards = try Self._keys(visitor, query + "&last=1", follow: "prev")
    #expect(backwards.reversed().flatMap { $0 } == expected)
  }

  @Test func `a filter and an order go together`() throws {
    let library = try Self._books(60)
    let visitor = try library.visit()
    let query = "&where=\(Visitor.encoded("pages > 2"))&sort=-title"
    let rows = try Self._keys(visitor, query).flatMap { $0 }
    let expected = try library.container.viewContext.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
      request.predicate = NSPredicate(format: "pages > 2")
      return try library.container.viewContext.count(for: request)
    }
    #expect(rows.count == expected && Set(rows).count == expected)
  }

  @Test func `a mistake in the filter shows where it is`() throws {
    let library = try Self._books(3)
    let visitor = try library.visit()
    let page = try visitor.get("/entity?name=Book&where=\(Visitor.encoded("pages >> 3"))")
    #expect(page.status == 400)
    #expect(page.text.contains("aria-invalid=\"true\""))
    #expect(page.text.contains("pages &gt;&gt; 3\n          <b>^</b>"))
    let unknown = try visitor.get("/entity?name=Book&where=\(Visitor.encoded("pagse > 3"))")
    #expect(unknown.status == 400)
    #expect(unknown.text.contains("pages"))
  }

  @Test func `constants of a filter are read as their attribute's type`() throws {
    let library = try Self._books(3)
    let visitor = try library.visit()
    func rows(_ filter: String) throws -> Int {
      let page = try visitor.get("/entity?name=Book&where=\(Visitor.encoded(filter))")
      #expect(page.status == 200, "\(filter)")
      return Self._rows(page.text).count
    }
    try #expect(rows("published == '2001-01-01'") == 3)
    try #expect(rows("published == '2001-01-01T00:00:02Z'") == 1)
    try #expect(rows("published > '2001-01-02'") == 0)
    try #expect(rows("SELF == 'Book/p2'") == 1)
    let wrong = try visitor.get("/entity?name=Book&where=\(Visitor.encoded("published > 'rubbish'"))")
    #expect(wrong.status == 400)
    #expect(wrong.text.contains("&#39;published&#39; is a date"))
    let sql = try visitor.get("/sql?name=Book&where=\(Visitor.encoded("published > '2001-01-02'"))").text
    #expect(sql.contains("CAST(86400"), "the request in Swift has the date")
  }

  @Test func `no filter reaches beyond the store's values`() throws {
    let library = try Self._books(3)
    let visitor = try library.visit()
    for filter in [
      "FUNCTION(title, 'description') == 'x'", "title == %@", "$x == 1",
      "FUNCTION(CAST('NSFileManager', 'Class'), 'new') != nil",
      "1 = 1); DROP TABLE ZBOOK; --", "objectID.persistentStore != nil",
    ] {
      let page = try visitor.get("/entity?name=Book&where=\(Visitor.encoded(filter))")
      #expect(page.status == 400, "\(filter)")
    }
    #expect(Self._rows(try visitor.get("/entity?name=Book").text).count == 3)
  }

  @Test(arguments: [
    "after=x", "after=1.q5", "before=1.d", "columns=nope", "columns=author.books.title", "sort=cover",
    "sort=nope",
  ])
  func `an invalid address is refused in words`(query: String) throws {
    let library = try Self._books(3)
    let explorer = try library.explore()
    defer { explorer.stop() }
    let page = try Visitor(explorer).get("/entity?name=Book&\(query)")
    #expect(page.status == 400)
    #expect(page.text.contains("role=\"alert\""))
  }

  @Test func `columns are chosen, also through relationships`() throws {
    let library = try Library { context in
      let author = Library.insert("Author", ["name": "Thomas Mann"], into: context)
      _ = Library.insert("Book", ["title": "Buddenbrooks", "author": author], into: context)
    }
    let visitor = try library.visit()
    let page = try visitor.get("/entity?name=Book&columns=title&columns=author.name,author.books")
    #expect(page.text.contains("<td><span class=\"text\">Thomas Mann</span></td><td class=\"num\">1</td>"))
    let standard = try visitor.get("/entity?name=Book")
    #expect(
      standard.text.contains(
        "<a href=\"/object?entity=Author&amp;key=1\" class=\"object\" title=\"Author/p1\">Thomas Mann</a>"))
  }

  @Test func `a subentity's objects are in its parent's table`() throws {
    let library = try Library { context in
      _ = Library.insert("Book", ["title": "Atlas"], into: context)
      _ = Library.insert("Novel", ["title": "Transit", "genre": "exile"], into: context)
    }
    let visitor = try library.visit()
    #expect(Set(Self._rows(try visitor.get("/entity?name=Book").text)) == ["Book/p1", "Novel/p2"])
    #expect(Self._rows(try visitor.get("/entity?name=Book&exact=1").text) == ["Book/p1"])
    #expect(Self._rows(try visitor.get("/entity?name=Novel").text) == ["Novel/p2"])
    #expect(try visitor.get("/object?entity=Book&key=2").text.contains("exile"))
  }
}

extension TableTests {
  @Test func `pictures are thumbnails in a table`() throws {
    let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0])
    let library = try Library { context in
      _ = Library.insert("Book", ["title": "shown", "cover": picture], into: context)
      _ = Library.insert(
        "Book", ["title": "not shown", "cover": Data(repeating: 1, count: 20)], into: context)
    }
    let page = try library.visit().get("/entity?name=Book").text
    #expect(page.components(separatedBy: "class=\"thumbnail\"").count == 2)
    #expect(page.contains("alt=\"cover of Book/p"))
  }

  @Test func `the example of a filter is one that the entity can have`() throws {
    let visitor = try Library().visit()
    for entity in ["Author", "Book", "Novel"] {
      let page = try visitor.get("/entity?name=\(entity)").text
      let example = try #require(
        page.components(separatedBy: "placeholder=\"").dropFirst().first { !$0.hasPrefix("Search") })
      let filter = String(example.prefix { $0 != "\"" }).replacing("&gt;", with: ">").replacing(
        "&#39;", with: "'")
      #expect(
        try visitor.get("/entity?name=\(entity)&where=\(Visitor.encoded(filter))").status == 200, "\(filter)")
    }
  }

  @Test func `columns of dates name their zone`() throws {
    let library = try Library { context in
      _ = Library.insert(
        "Book", ["title": "dated", "published": Date(timeIntervalSinceReferenceDate: 0)], into: context)
    }
    let page = try library.visit().get("/entity?name=Book").text
    #expect(page.contains("published<span class=\"kind\"> UTC</span>"))
    #expect(page.contains("title=\"2001-01-01 00:00:00 UTC\""))
  }

  @Test func `a column is at most six steps away`() throws {
    var node = EntitySchema(name: "Node")
    node.attributes = [AttributeSchema(traits: PropertyTraits(name: "name"), type: .string)]
    node.relationships = [
      RelationshipSchema(
        traits: PropertyTraits(name: "parent"), destination: "Node", inverse: "children", maxCount: 1),
      RelationshipSchema(traits: PropertyTraits(name: "children"), destination: "Node", inverse: "parent"),
    ]
    let layout = try ModelLayout(ModelSchema(entities: [node]))
    let entity = try #require(layout.layouts.first)
    let five = String(repeating: "parent.", count: 5)
    #expect(try PropertyPath(five + "name", of: entity, in: layout).names.count == 6)
    #expect(throws: PropertyPath.Problem.self) {
      try PropertyPath(five + "parent.name", of: entity, in: layout)
    }
  }
}
