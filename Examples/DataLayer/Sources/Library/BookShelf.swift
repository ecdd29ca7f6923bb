import CoreData
import Foundation

/// The app's books, as its screens use them.
public struct BookShelf: Sendable {
  /// The model's bundle, which tests name.
  public static let bundle = Bundle.module

  private let _container: NSPersistentContainer

  /// A shelf on an open container.
  public init(_ container: NSPersistentContainer) {
    _container = container
    container.viewContext.automaticallyMergesChangesFromParent = true
  }

  /// Adds books in the background, each by an author who is made if there is none of the name.
  public func add(_ books: [(title: String, author: String)], at time: Date = Date()) async throws {
    let context = _container.newBackgroundContext()
    try await context.perform {
      var authors: [String: Author] = [:]
      for (title, name) in books {
        let author = try authors[name] ?? _author(name, in: context)
        authors[name] = author
        let book = Book(context: context)
        book.title = title
        book.author = author
        book.added = time
      }
      try context.save()
    }
  }

  private func _author(_ name: String, in context: NSManagedObjectContext) throws -> Author {
    let request = Author.fetchRequest()
    request.predicate = NSPredicate(format: "name == %@", name)
    request.fetchLimit = 1
    if let known = try context.fetch(request).first { return known }
    let author = Author(context: context)
    author.name = name
    return author
  }

  /// The lines of the list: title and author, without a fault for each book.
  @MainActor public func lines() throws -> [String] {
    let request = Book.fetchRequest()
    request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    request.relationshipKeyPathsForPrefetching = ["author"]
    return try _container.viewContext.fetch(request).map { book in
      "\(book.title ?? "?"), \(book.author?.name ?? "?")" + (book.isFinished ? " (finished)" : "")
    }
  }

  /// Marks books as finished.
  @MainActor public func finish(_ books: [Book]) throws {
    for book in books { book.isFinished = true }
    try _container.viewContext.save()
  }
}
