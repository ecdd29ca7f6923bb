// Declarations for the examples in the documentation: a small model's classes, as the build plugin generates them, and the
// parameters of the function that each example is wrapped in. See Scripts/check doc-examples.

import CoreData
import CoreDataStacks
import Foundation

class Author: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var country: String?
  @NSManaged var birthday: Date?
  @NSManaged var books: NSSet?

  @nonobjc class func fetchRequest() -> NSFetchRequest<Author> {
    NSFetchRequest<Author>(entityName: "Author")
  }

  func addToBooks(_ value: Book) { mutableSetValue(forKey: "books").add(value) }
  func removeFromBooks(_ value: Book) { mutableSetValue(forKey: "books").remove(value) }
}

class Book: NSManagedObject {
  @NSManaged var title: String?
  @NSManaged var isbn: String?
  @NSManaged var pages: Int32
  @NSManaged var price: NSDecimalNumber?
  @NSManaged var published: Date?
  @NSManaged var lastOpened: Date?
  @NSManaged var isRead: Bool
  @NSManaged var rating: Double
  @NSManaged var cover: Data?
  @NSManaged var author: Author?
  @NSManaged var tags: Set<Tag>
  @NSManaged var chapters: NSOrderedSet?

  @nonobjc class func fetchRequest() -> NSFetchRequest<Book> { NSFetchRequest<Book>(entityName: "Book") }
}

class Chapter: NSManagedObject {
  @NSManaged var title: String?
  @NSManaged var book: Book?
}

class Tag: NSManagedObject {
  @NSManaged var name: String?
  @NSManaged var books: Set<Book>

  @nonobjc class func fetchRequest() -> NSFetchRequest<Tag> { NSFetchRequest<Tag>(entityName: "Tag") }
}

/// A record of an import.
struct BookRecord: Codable, Sendable {
  var isbn: String
  var title: String
  var pages: Int
}

/// Stands for a program's own code.
enum Program {
  @MainActor static func reloadList() {}
  @MainActor static func show(_ text: String) {}
}

enum Examples {
  /// The values that an example may use without declaring them.
  @MainActor static func given(
    container: NSPersistentContainer,
    context: NSManagedObjectContext,
    background: NSManagedObjectContext,
    coordinator: NSPersistentStoreCoordinator,
    description: NSPersistentStoreDescription,
    store: NSPersistentStore,
    storeURL: URL,
    backupURL: URL,
    model: NSManagedObjectModel,
    oldModel: NSManagedObjectModel,
    newModel: NSManagedObjectModel,
    author: Author,
    book: Book,
    chapter: Chapter,
    tag: Tag,
    bookID: NSManagedObjectID,
    request: NSFetchRequest<Book>,
    controller: NSFetchedResultsController<Book>,
    records: [BookRecord],
    lastToken: NSPersistentHistoryToken?,
    notification: Notification,
    stack: any ContextStack
  ) async throws {}
}
