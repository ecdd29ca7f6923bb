import CoreData
import CoreDataStacks
import Foundation
import Testing

/// A book with a computed property that lists are grouped by.
final class Book: NSManagedObject, CoreDataModelable {
  static let entityName = "Book"

  var title: String? {
    get { value(forKey: "title") as? String }
    set { setValue(newValue, forKey: "title") }
  }

  override func value(forKey key: String) -> Any? {
    guard key == "firstInitial" else { return super.value(forKey: key) }
    return title?.first.map { String($0) }
  }
}

final class Author: NSManagedObject, CoreDataModelable {
  static let entityName = "Author"

  var name: String? {
    get { value(forKey: "name") as? String }
    set { setValue(newValue, forKey: "name") }
  }
}

/// Authors with books, and stacks for them.
enum SampleBooks {
  static func model() -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      attribute.isOptional = true
      return attribute
    }
    func relationship(_ name: String, _ destination: NSEntityDescription, many: Bool)
      -> NSRelationshipDescription
    {
      let relationship = NSRelationshipDescription()
      relationship.name = name
      relationship.destinationEntity = destination
      relationship.isOptional = true
      relationship.maxCount = many ? 0 : 1
      relationship.deleteRule = .nullifyDeleteRule
      return relationship
    }
    let author = NSEntityDescription()
    author.name = "Author"
    author.managedObjectClassName = NSStringFromClass(Author.self)
    let book = NSEntityDescription()
    book.name = "Book"
    book.managedObjectClassName = NSStringFromClass(Book.self)
    let books = relationship("books", book, many: true)
    let writer = relationship("author", author, many: false)
    books.inverseRelationship = writer
    writer.inverseRelationship = books
    author.properties = [
      attribute("name", .stringAttributeType), attribute("rank", .integer64AttributeType), books,
    ]
    book.properties = [
      attribute("title", .stringAttributeType), attribute("pages", .integer64AttributeType), writer,
    ]
    let model = NSManagedObjectModel()
    model.entities = [author, book]
    return model
  }

  /// A request for all authors by name.
  static var authorsByName: NSFetchRequest<Author> {
    let request = NSFetchRequest<Author>(entityName: "Author")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }
}

/// A directory that is removed after the test.
final class StoreDirectory: Sendable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent(
      "stack-test-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var store: URL { url.appendingPathComponent("Store.sqlite") }

  /// Returns the names of all authors in the file, read through a separate coordinator.
  func storedNames() throws -> [String] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: SampleBooks.model())
    try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: store)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try context.fetch(SampleBooks.authorsByName).map { $0.name ?? "-" } }
  }
}

/// Text that several threads append to.
final class Log: @unchecked Sendable {
  // Unchecked: guarded by the lock.
  private let _lock = NSLock()
  private var _lines: [String] = []

  func add(_ line: String) { _lock.withLock { _lines.append(line) } }
  var lines: [String] { _lock.withLock { _lines } }
}

/// A list of authors by name on a main context, used on the main queue.
final class AuthorList: @unchecked Sendable {
  // Unchecked: created and used only in the context's perform blocks.
  let controller: NSFetchedResultsController<Author>
  let rounds = Rounds()

  final class Rounds: NSObject, NSFetchedResultsControllerDelegate {
    var count = 0
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
      count += 1
    }
  }

  init(_ context: NSManagedObjectContext) throws {
    controller = NSFetchedResultsController(
      fetchRequest: SampleBooks.authorsByName, managedObjectContext: context, sectionNameKeyPath: nil,
      cacheName: nil)
    controller.delegate = rounds
    try controller.performFetch()
  }

  var names: [String] { (controller.fetchedObjects ?? []).map { $0.name ?? "-" } }

  /// Returns whether the list equals a new fetch, and shows each object's current values.
  func equalsFreshFetch() throws -> Bool {
    try controller.managedObjectContext.fetch(SampleBooks.authorsByName) == controller.fetchedObjects
  }
}
