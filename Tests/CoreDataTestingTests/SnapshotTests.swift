import CoreData
import Foundation
import Testing

@testable import CoreDataTesting

@MainActor @Suite("Snapshots of stores", .coreData("Library", bundle: .module)) struct SnapshotTests {
  private let _store: TestStore

  init() throws { _store = try TestStore.current }

  @Test func `The store of the fixture is as recorded`() throws {
    try _store.load("Fixtures/Library.ndjson", from: .module)
    try _store.expectSnapshot()
  }

  @Test func `Stores with the same content in another order have the same text`() throws {
    func text(_ titles: [String], reversed: Bool) throws -> String {
      try withTestStore(.library()) { store in
        let context = store.viewContext
        var authors = try (0..<2).map { _ in try store.make(Author.self) { $0.name = "Anonymous" } }
        if reversed { authors.reverse() }
        for title in titles {
          try store.make(Book.self) {
            $0.title = title
            $0.isbn = title
            $0.pages = 10
            // Authors that differ only in what they have written.
            $0.author = authors[title < "C" ? 0 : 1]
          }
        }
        for tag in ["x", "x", "x"] { try store.make(Tag.self) { $0.name = tag } }
        try context.save()
        return try store.snapshot()
      }
    }
    let text1 = try text(["A", "B", "C", "D"], reversed: false)
    #expect(try text1 == text(["D", "B", "A", "C"], reversed: true))
    #expect(
      text1.hasPrefix("Author 1\n  born: nil\n  name: \"Anonymous\"\n  books: Book 1, Book 2\n\nAuthor 2\n"))
  }

  @Test func `Properties are left out by name, of one entity or of all`() throws {
    try _store.load("Fixtures/Library.ndjson", from: .module)
    let text = try _store.snapshot(excluding: ["Book.identifier", "name"])
    #expect(!text.contains("identifier:"))
    #expect(!text.contains("Austen"))
    #expect(text.contains("title: \"Emma\""))
  }

  @Test func `Values are on one line, with long data as a hash`() {
    #expect(SnapshotValue.text("a \"b\"\\\n\u{1}") == #""a \"b\"\\\n\u0001""#)
    #expect(SnapshotValue.text(Data([0, 255])) == "2 bytes, 00ff")
    #expect(SnapshotValue.text(Data()) == "0 bytes")
    #expect(SnapshotValue.text(Data(repeating: 7, count: 40)).hasPrefix("40 bytes, hash "))
    #expect(SnapshotValue.text(Date(timeIntervalSinceReferenceDate: 0)) == "2001-01-01T00:00:00Z")
    #expect(SnapshotValue.text(Date(timeIntervalSinceReferenceDate: -0.25)) == "2000-12-31T23:59:59.750Z")
    #expect(SnapshotValue.text(nil) == "nil")
    #expect(SnapshotValue.text(["b": 1, "a": [true]] as [String: Any]).hasPrefix("{a: ["))
  }

  @Test(.disabled(if: SnapshotFile.isRecording))
  func `A store that differs is a failure with the lines and the objects they belong to`() throws {
    let messages = try failures { store in
      try store.load("Fixtures/Library.ndjson", from: .module)
      let request = NSFetchRequest<Book>(entityName: "Book")
      request.predicate = NSPredicate(format: "title == 'Orlando'")
      try store.viewContext.fetch(request).first?.pages = 334
      try store.viewContext.save()
      try store.expectSnapshot(named: "The store of the fixture is as recorded()")
    }
    let message = try #require(messages.first)
    #expect(message.contains("\n- " + "  pages: 333\n+ " + "  pages: 334\n"), "\(message)")
    #expect(message.contains("\n  Book 2\n"), "\(message)")
  }

  @Test(.disabled(if: SnapshotFile.isRecording))
  func `A missing file is a failure that says how to record it`() throws {
    let messages = try failures { store in try store.expectSnapshot(named: "never recorded") }
    #expect(messages.first?.contains("COREDATA_RECORD_SNAPSHOTS=1") == true)
  }
}

@MainActor @Suite("Tests of migrations", .coreData("Library", bundle: .module)) struct MigrationTests {
  private let _store: TestStore
  private let _versions: ModelVersions

  init() throws {
    _store = try TestStore.current
    _versions = try ModelVersions("Library", in: .module)
  }

  @Test func `An old store that a test makes migrates with all of its rows`() throws {
    #expect(_versions.names == ["Library", "Library 1"])
    let old = try _store.makeOldStore(with: _versions["Library 1"]) { store in
      for _ in 0..<3 { try store.make(Book.self) { $0.title = "Old" } }
    }
    let counts = try old.rowCounts(with: _versions)
    #expect(counts["Book"] == 3)
    let migrated = try _store.migrate(old)
    migrated.expectRows(counts)
    let books = try migrated.viewContext.fetch(NSFetchRequest<Book>(entityName: "Book"))
    #expect(books.map(\.subtitle) == [nil, nil, nil])
    // The old store is as it was.
    #expect(try _versions.model(of: old.url) === _versions["Library 1"])
  }

  @Test func `An old store has one object of each entity if the test does not say what`() throws {
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "Other"
    model.entities = [entity]
    let old = try _store.makeOldStore(with: model, named: "Other")
    #expect(old.name == "Other")
    let error = #expect(throws: TestStoreError.self) { try _store.makeOldStore(with: _versions["Library 1"]) }
    #expect(error?.description.contains("'text' of 'Code'") == true)
  }

  @Test func `Stores of a folder are found by what they begin with, and keep their logs`() throws {
    let old = try _store.makeOldStore(with: _versions["Library 1"], named: "Release 1") { store in
      try store.make(Tag.self)
    }
    let folder = old.url.deletingLastPathComponent()
    try Data("notes".utf8).write(to: folder.appendingPathComponent("notes.txt"))
    let found = try OldStore.all(in: folder)
    #expect(found.map(\.name) == ["Release 1"])
    let migrated = try _store.migrate(try #require(found.first))
    migrated.expectRows(["Tag": 1])
  }

  @Test func `A folder without stores, and a store of no version, are errors`() throws {
    let empty = try _store.directory().appendingPathComponent("empty")
    try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
    #expect(throws: TestStoreError.self) { try OldStore.all(in: empty) }
    #expect(throws: TestStoreError.self) { try OldStore.all(in: "Absent", of: .module) }
    let model = NSManagedObjectModel()
    let entity = NSEntityDescription()
    entity.name = "Other"
    model.entities = [entity]
    let old = try _store.makeOldStore(with: model)
    let error = #expect(throws: TestStoreError.self) { try old.rowCounts(with: _versions) }
    #expect(error?.description.contains("No version of the model 'Library'") == true)
  }

  @Test func `Rows that are missing are a failure`() throws {
    let messages = try failures { store in store.expectRows(["Book": 2, "Lost": 1]) }
    #expect(messages == ["The store has 0 Book, not 2; 0 Lost, not 1."])
  }
}
