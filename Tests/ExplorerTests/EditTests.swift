import CoreData
import Foundation
import Testing

@testable import CoreDataExplorer

/// Changing the store.
@Suite struct EditTests {
  private static func _library() throws -> Library {
    try Library { context in
      let author = Library.insert("Author", ["name": "Alfred Döblin"], into: context)
      _ = Library.insert("Book", ["title": "Hamlet", "pages": 590, "author": author], into: context)
    }
  }

  private static func _values(_ library: Library, _ entity: String, _ key: String) throws -> [String] {
    let context = library.container.newBackgroundContext()
    return try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: entity)
      request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
      return try context.fetch(request).map { $0.value(forKey: key).map { "\($0)" } ?? "nil" }
    }
  }

  @Test func `an empty text and none are told apart`() throws {
    let library = try Self._library()
    let visitor = try library.visit(Library.editing)
    for (value, isNil, stored) in [("", false, ""), ("", true, "nil"), ("text", true, "text")] {
      let form = try visitor.get("/edit?entity=Book&key=1").text
      let base = form.contains("name=\"base:title\" value=\"Hamlet\"") ? "Hamlet" : ""
      let fields: KeyValuePairs<String, String> =
        form.contains("name=\"base-nil:title\"")
        ? [
          "target-entity": "Book", "target-key": "1", "value:title": value, "base-nil:title": "1",
          isNil ? "nil:title" : "x": "1",
        ]
        : [
          "target-entity": "Book", "target-key": "1", "value:title": value, "base:title": base,
          isNil ? "nil:title" : "x": "1",
        ]
      #expect(try visitor.post("/edit", fields).status == 303)
      _ = try visitor.post("/changes/save", [:])
      #expect(try Self._values(library, "Book", "title") == [stored])
    }
  }

  @Test func `without the switch nothing can be changed`() throws {
    let library = try Self._library()
    let visitor = try library.visit()
    for path in ["/edit?entity=Book&key=1", "/new?entity=Book", "/changes"] {
      #expect(try visitor.get(path).status == 403, "\(path)")
    }
  }

  @Test func `reading changes nothing of the files`() throws {
    let library = try Self._library()
    // Only the explorer has the store open, so any new file beside it is the explorer's.
    let coordinator = library.container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
    let before = try Data(contentsOf: library.store)
    let names = try FileManager.default.contentsOfDirectory(atPath: library.directory.path).sorted()
    let explorer = try library.explore()
    let visitor = try Visitor(explorer)
    for path in [
      "/", "/entity?name=Book", "/object?entity=Book&key=1", "/history", "/check", "/export?name=Book&as=csv",
    ] {
      #expect(try visitor.get(path).status == 200)
    }
    explorer.stop()
    #expect(try Data(contentsOf: library.store) == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: library.directory.path).sorted() == names)
  }

  @Test func `a value is changed, reviewed, and saved with its author`() throws {
    let library = try Self._library()
    let visitor = try library.visit(Library.editing)
    let taken = try visitor.post(
      "/edit",
      [
        "target-entity": "Book", "target-key": "1", "value:title": "Hamlet oder Die lange Nacht",
        "base:title": "Hamlet",
        "value:pages": "590", "base:pages": "590",
      ])
    #expect(taken.status == 303 && taken.header("location") == "/changes")
    let changes = try visitor.get("/changes").text
    #expect(changes.contains("<del><span class=\"prose\">Hamlet</span></del>"))
    #expect(changes.contains("<ins><span class=\"prose\">Hamlet oder Die lange Nacht</span></ins>"))
    #expect(!changes.contains(">pages<"), "what was not touched is no change")
    #expect(try Self._values(library, "Book", "title") == ["Hamlet"], "nothing is written yet")
    #expect(try visitor.post("/changes/save", [:]).status == 303)
    #expect(try Self._values(library, "Book", "title") == ["Hamlet oder Die lange Nacht"])
    #expect(try visitor.get("/history").text.contains("<b>the test</b>"))
  }

  @Test func `a copy of a store that another program has open is saved`() throws {
    let library = try Self._library()
    let copy = library.directory.appendingPathComponent("Copy.sqlite").path
    for suffix in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: library.path + suffix, toPath: copy + suffix)
    }
    let explorer = try library.explore(Library.editing, path: copy)
    defer { explorer.stop() }
    let visitor = try Visitor(explorer)
    // Pages read the store before anything is saved.
    #expect(try visitor.get("/entity?name=Book").status == 200)
    _ = try visitor.post(
      "/edit", ["target-entity": "Book", "target-key": "1", "value:title": "Emma", "base:title": "Hamlet"])
    #expect(try visitor.post("/changes/save", [:]).status == 303)
    #expect(try visitor.get("/entity?name=Book").text.contains("Emma"))
  }

  @Test func `errors show at their fields`() throws {
    let library = try Self._library()
    let visitor = try library.visit(Library.editing)
    let number = try visitor.post(
      "/edit", ["target-entity": "Book", "target-key": "1", "value:pages": "many", "base:pages": "590"])
    #expect(number.status == 422)
    #expect(
      number.text.contains(
        "id=\"field-pages-message\">a whole number of 32 bits was expected, not &#39;many&#39;"))
    #expect(number.text.contains("value=\"many\""), "what was entered stays")
    let negative = try visitor.post(
      "/edit", ["target-entity": "Book", "target-key": "1", "value:pages": "-5", "base:pages": "590"])
    #expect(negative.status == 422 && negative.text.contains("id=\"field-pages-message\""))
    let missing = try visitor.post(
      "/new", ["target-entity": "Author", "value:name": "", "base-nil:name": "1"])
    #expect(missing.status == 422 && missing.text.contains("id=\"field-name-message\""))
    #expect(try visitor.get("/changes").text.contains("Nothing has been changed."))
  }

  @Test func `objects are made, related, undone and made again`() throws {
    let library = try Self._library()
    let visitor = try library.visit(Library.editing)
    let made = try visitor.post(
      "/new",
      [
        "target-entity": "Novel", "value:title": "November 1918", "base-nil:title": "1",
        "value:author": "Author/p1",
        "base-nil:author": "1", "value:genre": "history", "base-nil:genre": "1",
      ])
    #expect(made.status == 303)
    #expect(try visitor.post("/changes/undo", [:]).status == 303)
    #expect(try visitor.get("/changes").text.contains("Nothing has been changed."))
    #expect(try visitor.post("/changes/redo", [:]).status == 303)
    #expect(try visitor.post("/changes/save", [:]).status == 303)
    #expect(try Self._values(library, "Novel", "genre") == ["history"])
    #expect(try visitor.get("/object?entity=Author&key=1").text.contains("November 1918"))
  }

  @Test func `a deletion that a relationship denies is refused in words`() throws {
    let library = try Self._library()
    let visitor = try library.visit(Library.editing)
    let denied = try visitor.post("/delete", ["target-entity": "Author", "target-key": "1"])
    #expect(denied.status == 422 && denied.text.contains("id=\"field-books-message\""))
    #expect(try visitor.post("/delete", ["target-entity": "Book", "target-key": "1"]).status == 303)
    #expect(try visitor.post("/delete", ["target-entity": "Author", "target-key": "1"]).status == 303)
    #expect(try visitor.post("/changes/save", [:]).status == 303)
    #expect(try Self._values(library, "Author", "name").isEmpty)
  }

  @Test(arguments: ["mine", "theirs"])
  func `a conflict is shown by property and settled`(settlement: String) throws {
    let library = try Self._library()
    let visitor = try library.visit(Library.editing)
    _ = try visitor.get("/edit?entity=Book&key=1")
    _ = try visitor.post(
      "/edit", ["target-entity": "Book", "target-key": "1", "value:title": "mine", "base:title": "Hamlet"])
    try library.write { context in
      let book = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first
      book?.setValue("theirs", forKey: "title")
      book?.setValue(600, forKey: "pages")
    }
    let conflict = try visitor.post("/changes/save", [:])
    #expect(conflict.status == 409)
    #expect(
      conflict.text.contains("both changed") && conflict.text.contains(">theirs<")
        && conflict.text.contains(">Hamlet<"))
    #expect(try visitor.post("/changes/save", ["settle": settlement]).status == 303)
    #expect(try Self._values(library, "Book", "title") == [settlement])
    #expect(try Self._values(library, "Book", "pages") == ["600"])
  }

  @Test func `a value that must be unique is refused in words`() throws {
    let isbn = UUID()
    let library = try Library { context in
      _ = Library.insert("Book", ["title": "one", "isbn": isbn], into: context)
    }
    let visitor = try library.visit(Library.editing)
    _ = try visitor.post(
      "/new", ["target-entity": "Book", "value:isbn": isbn.uuidString, "base-nil:isbn": "1"])
    let conflict = try visitor.post("/changes/save", [:])
    #expect(
      conflict.status == 409 && conflict.text.contains("must be unique")
        && conflict.text.contains("Book/p1 in the store"))
  }

  @Test func `a form older than the store is refused`() throws {
    let library = try Self._library()
    let visitor = try library.visit(Library.editing)
    try library.write { context in
      try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first?.setValue(
        "Wallenstein", forKey: "title")
    }
    let stale = try visitor.post(
      "/edit", ["target-entity": "Book", "target-key": "1", "value:title": "mine", "base:title": "Hamlet"])
    #expect(stale.status == 422 && stale.text.contains("has changed meanwhile, to &#39;Wallenstein&#39;"))
  }
}

extension EditTests {
  @Test func `objects for a relationship are found by their text`() throws {
    let library = try Library { context in
      for name in ["Émile Zola", "Emily Brontë", "Vicki Baum"] {
        _ = Library.insert("Author", ["name": name], into: context)
      }
    }
    let visitor = try library.visit(Library.editing)
    #expect(try visitor.get("/new?entity=Book").text.contains("data-pick=\"Author\""))
    let found = try visitor.get("/pick?name=Author&text=emil").text
    #expect(found.contains("Émile Zola") && found.contains("Emily Brontë") && !found.contains("Vicki Baum"))
    #expect(found.contains("\"length\":4") || found.contains("\"length\": 4"))
    #expect(try visitor.get("/pick?name=Author&text=").text.contains("Vicki Baum"))
  }

  @Test func `a value that is not unique is not called a change meanwhile`() throws {
    let isbn = UUID()
    let library = try Library { _ = Library.insert("Book", ["title": "first", "isbn": isbn], into: $0) }
    let visitor = try library.visit(Library.editing)
    _ = try visitor.post(
      "/new",
      [
        "target-entity": "Book", "value:title": "second", "base-nil:title": "1",
        "value:isbn": isbn.uuidString, "base-nil:isbn": "1",
      ])
    let answer = try visitor.post("/changes/save", [:])
    #expect(answer.status == 409)
    #expect(answer.text.contains("Values are not unique") && answer.text.contains("must be unique"))
    #expect(!answer.text.contains("has changed meanwhile"))
  }
}
