import CoreData
import CoreDataToolKit
import Foundation

@testable import CoreDataExplorer

/// A store of authors and books in a temporary directory, and an explorer for it; both removed after the
/// test.
final class Library {
  let directory: URL
  let container: NSPersistentContainer
  var store: URL { directory.appendingPathComponent("Library.sqlite") }
  var path: String { store.path }

  /// - Parameter fill: Creates the store's contents before the explorer opens it.
  init(
    entityName: String = "Book", _ fill: (NSManagedObjectContext) throws -> Void = { _ in }
  ) throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    container = NSPersistentContainer(name: "Library", managedObjectModel: Self.model(entityName))
    let description = NSPersistentStoreDescription(url: directory.appendingPathComponent("Library.sqlite"))
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    try write { try fill($0) }
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Changes the store as another program would, in a new context.
  func write(author: String? = nil, _ body: (NSManagedObjectContext) throws -> Void) throws {
    let context = container.newBackgroundContext()
    try context.performAndWait {
      context.transactionAuthor = author
      try body(context)
      if context.hasChanges { try context.save() }
    }
  }

  /// Serves the store, or another one at a path.
  func explore(
    _ options: Explorer.Options = Explorer.Options(), limits: ExplorerLimits = ExplorerLimits(),
    path: String? = nil
  ) throws -> Explorer {
    let terminal = Terminal(isInteractive: false, usesColor: false, width: 80)
    return try Explorer(
      path ?? self.path, options,
      ToolEnvironment(
        variables: [:], outputTerminal: terminal, errorTerminal: terminal, output: { _ in }, error: { _ in }),
      limits: limits)
  }

  /// Serves the store to one visitor, during the visitor's lifetime.
  func visit(_ options: Explorer.Options = Explorer.Options(), limits: ExplorerLimits = ExplorerLimits())
    throws -> Visitor
  {
    let explorer = try explore(options, limits: limits)
    return try Visitor(explorer).owning(explorer, over: self)
  }

  /// Options that allow changing the store.
  static var editing: Explorer.Options {
    var options = Explorer.Options()
    options.isEditable = true
    options.author = "the test"
    return options
  }

  static func insert(_ entity: String, _ values: [String: Any], into context: NSManagedObjectContext)
    -> NSManagedObject
  {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// Authors have books; books have attributes of all types.
  static func model(_ bookName: String = "Book") -> NSManagedObjectModel {
    func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      attribute.name = name
      attribute.attributeType = type
      return attribute
    }
    let (author, book, novel) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    author.name = "Author"
    book.name = bookName
    novel.name = "Novel"
    let name = attribute("name", .stringAttributeType)
    name.isOptional = false
    name.setValidationPredicates(
      [NSPredicate(format: "length > 1")], withValidationWarnings: ["is too short"])
    let pages = attribute("pages", .integer32AttributeType)
    pages.setValidationPredicates(
      [NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["is negative"])
    let (books, writer) = (NSRelationshipDescription(), NSRelationshipDescription())
    books.name = "books"
    books.destinationEntity = book
    books.maxCount = 0
    books.deleteRule = .denyDeleteRule
    writer.name = "author"
    writer.destinationEntity = author
    writer.maxCount = 1
    writer.deleteRule = .nullifyDeleteRule
    books.inverseRelationship = writer
    writer.inverseRelationship = books
    author.properties = [name, books]
    book.properties = [
      attribute("title", .stringAttributeType), pages, attribute("price", .doubleAttributeType),
      attribute("published", .dateAttributeType), attribute("inPrint", .booleanAttributeType),
      attribute("cover", .binaryDataAttributeType), attribute("isbn", .UUIDAttributeType),
      attribute("notes", .transformableAttributeType), writer,
    ]
    novel.properties = [attribute("genre", .stringAttributeType)]
    book.subentities = [novel]
    book.indexes = [
      NSFetchIndexDescription(
        name: "byTitle",
        elements: [
          NSFetchIndexElementDescription(property: book.propertiesByName["title"]!, collationType: .binary)
        ])
    ]
    book.uniquenessConstraints = [["isbn"]]
    let model = NSManagedObjectModel()
    model.entities = [author, book, novel]
    return model
  }
}
