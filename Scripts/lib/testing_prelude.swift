// Declarations for the examples of CoreDataTesting: a small model's classes, the code under test, and the parameters of the
// function that each example is wrapped in that is no test. See Scripts/check doc-examples.

import CoreData
import CoreDataTesting
import Foundation
import Testing
import XCTest

class Shelf: NSManagedObject {
  @NSManaged var books: Set<Book>
}

class Author: NSManagedObject {
  @NSManaged var name: String?
}

class Book: NSManagedObject {
  @NSManaged var title: String?
  @NSManaged var author: Author?
  @NSManaged var shelf: Shelf?

  class func fetchRequest() -> NSFetchRequest<Book> { NSFetchRequest<Book>(entityName: "Book") }
  class var withAuthors: NSFetchRequest<Book> { fetchRequest() }
}

extension Bundle {
  static var module: Bundle { .main }
}

class LibraryContainer: NSPersistentContainer, @unchecked Sendable {}

/// A test case that an app has.
class AppTestCase: XCTestCase {}

struct Importer: Sendable {
  func run() throws {}
}

struct Library: Sendable {
  func add(_ title: String, by author: Author) throws {}
}

@MainActor final class EditScreen {
  let context: NSManagedObjectContext

  init(_ container: NSPersistentContainer) { context = container.viewContext }

  func save() throws {}
}

enum Examples {
  /// The values that an example may use without declaring them.
  @MainActor static func given(
    store: TestStore,
    container: NSPersistentContainer,
    context: NSManagedObjectContext,
    background: NSManagedObjectContext,
    fixture: Fixture,
    importer: Importer,
    library: Library,
    woolf: Author,
    book: Book,
    shelf: Shelf
  ) async throws {}
}
