import CoreDataSQLiteBinding
import Foundation
import Testing

@testable import CoreData

/// A library in a SQLite file that another connection can lock: reads fail until it lets go.
final class OutageStack {
  let stack: TestStack
  private let _lock: Connection

  /// Creates a store with two books by Ada; the first one has values of every kind.
  init(model: NSManagedObjectModel = LibraryModel.make()) throws {
    stack = try TestStack(
      .sqlite, model: Self._withFetchedProperty(model),
      options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"], NSPersistentStoreTimeoutOption: 0.01])
    _lock = try Connection(path: stack.url.path)
    try stack.root.performAndWait {
      let ada = stack.root.insert("Author", ["name": "Ada"])
      stack.root.insert(
        "Book",
        [
          "title": "One", "pages": 7, "price": 1.5, "published": Date(timeIntervalSinceReferenceDate: 9),
          "isbn": UUID(), "page": URL(string: "https://example.org")!, "cost": Decimal(3), "cover": Data([1]),
          "author": ada, "tags": Set([stack.root.insert("Tag", ["name": "t"])]),
          "chapters": NSOrderedSet(array: [stack.root.insert("Chapter", ["heading": "c"])]),
        ])
      stack.root.insert("Book", ["title": "Two", "pages": 8, "author": ada])
      try stack.root.save()
    }
  }

  private static func _withFetchedProperty(_ model: NSManagedObjectModel) -> NSManagedObjectModel {
    let namesakes = NSFetchedPropertyDescription()
    namesakes.name = "namesakes"
    let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
    request.predicate = NSPredicate(format: "pages > 0")
    namesakes.fetchRequest = request
    model.entitiesByName["Tag"]!.properties.append(namesakes)
    return model
  }

  /// Runs a block in a new context that fails reads as the policy says.
  func fresh<T>(_ policy: ReadFailurePolicy = .fail, _ body: (NSManagedObjectContext) throws -> T) rethrows
    -> T
  {
    let context = stack.sibling()
    return try context.performAndWait {
      context.readFailurePolicy = policy
      return try body(context)
    }
  }

  /// Returns faults, by one attribute, whose values are nowhere in memory.
  func faults(_ entity: String = "Book", by key: String = "title", in context: NSManagedObjectContext) throws
    -> [NSManagedObject]
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.includesPropertyValues = false
    request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
    let objects = try context.fetch(request)
    stack.coordinator.rowCache.removeAll()
    return objects
  }

  /// Runs a block while nothing can be read.
  func outage<T>(_ body: () throws -> T) throws -> T {
    try _lock.execute("BEGIN EXCLUSIVE")
    defer { #expect(throws: Never.self) { try _lock.execute("ROLLBACK") } }
    return try body()
  }
}
