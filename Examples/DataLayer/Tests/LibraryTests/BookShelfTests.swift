import CoreData
import CoreDataTesting
import Foundation
import Testing

@testable import Library

/// Each test has a store of its own, in memory; parallel tests share nothing.
@MainActor @Suite(.coreData("Library", bundle: BookShelf.bundle)) struct BookShelfTests {
  private let _store: TestStore
  private let _shelf: BookShelf

  init() throws {
    _store = try TestStore.current
    _shelf = BookShelf(_store.container)
  }

  @Test func `The list shows books with their authors, for one fetch`() throws {
    try _store.load("Fixtures/Classics.ndjson", from: .module)
    // As on the next launch: nothing is in memory.
    _store.viewContext.reset()
    let lines = try _store.expectFetches(1, faults: 0) { try _shelf.lines() }
    #expect(lines == ["Emma, Jane Austen (finished)", "Orlando, Virginia Woolf"])
  }

  @Test func `Added books reach the list, and an author is made once`() async throws {
    let author = try _store.make(Author.self) { $0.name = "Virginia Woolf" }
    try _store.viewContext.save()
    try await _store.merged(into: _store.viewContext) {
      try await _shelf.add(
        [("Orlando", "Virginia Woolf"), ("Emma", "Jane Austen"), ("The Waves", "Virginia Woolf")],
        at: Date(timeIntervalSinceReferenceDate: 0))
    }
    #expect(author.books?.count == 2)
    _store.expectRows(["Author": 2, "Book": 3])
    try _store.expectSnapshot()
  }

  @Test func `Finishing writes the books and nothing else`() throws {
    let fixture = try _store.load("Fixtures/Classics.ndjson", from: .module)
    let orlando: Book = try fixture["orlando"]
    try _store.expectSave(of: _store.viewContext, updated: ["Book": 1]) { try _shelf.finish([orlando]) }
  }

  @Test func `The context of an import is let go`() async throws {
    let store = _store
    await store.expectReleased {
      let context = store.newBackgroundContext()
      await context.perform { _ = try? context.fetch(Book.fetchRequest()) }
      return context
    }
  }

  @Test func `The store of the first release migrates with all of its books`() throws {
    let versions = try ModelVersions("Library", in: BookShelf.bundle)
    let old = try _store.makeOldStore(with: versions["Library 1"], named: "First release") { store in
      for title in ["Emma", "Persuasion"] {
        let book = try store.make("Book")
        book.setValue(title, forKey: "title")
      }
    }
    let migrated = try _store.migrate(old)
    migrated.expectRows(try old.rowCounts(with: versions))
    #expect(try BookShelf(migrated.container).lines().count == 2)
  }
}
