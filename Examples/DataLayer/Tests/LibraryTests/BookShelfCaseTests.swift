import CoreDataTesting
import XCTest

@testable import Library

/// The same with XCTest, for a suite that has not moved to Swift Testing.
final class BookShelfCaseTests: CoreDataTestCase {
  override class var storeSettings: TestStoreSettings {
    TestStoreSettings(model: "Library", bundle: BookShelf.bundle)
  }

  func testDeletingAnAuthorDeletesTheBooks() throws {
    let book = try store.make(Book.self)
    try store.viewContext.save()
    let author = try XCTUnwrap(book.author)
    try store.expectSave(of: store.viewContext, deleted: ["Author": 1, "Book": 1]) {
      store.viewContext.delete(author)
      try store.viewContext.save()
    }
  }

  @MainActor func testBooksAreAddedInTheBackground() async throws {
    let shelf = BookShelf(store.container)
    try await store.merged(into: store.viewContext) { try await shelf.add([("Emma", "Jane Austen")]) }
    XCTAssertEqual(try shelf.lines(), ["Emma, Jane Austen"])
  }
}
