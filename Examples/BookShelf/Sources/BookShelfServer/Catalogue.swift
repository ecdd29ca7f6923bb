import CoreData
import Foundation
import HTTPService

/// The books, in a store on disk. May be used from any number of threads.
final class Catalogue: Sendable {
  private let _container: NSPersistentContainer

  /// Opens the store, creating it if necessary.
  init(storeURL: URL) throws {
    _container = NSPersistentContainer(name: "Catalogue")
    let description = NSPersistentStoreDescription(url: storeURL)
    // The change feed reads the history.
    description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
    _container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    _container.loadPersistentStores { failure = $1 }
    if let failure { throw failure }
  }

  /// Closes the store, which checkpoints its write-ahead log into the file.
  func close() {
    let coordinator = _container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try? coordinator.remove(store) }
  }

  /// Handles a request in a new background context, which reads one state of the store and is discarded with
  /// any unsaved changes.
  func answer(_ request: HTTPRequest) -> HTTPResponse {
    let context = _container.newBackgroundContext()
    context.transactionAuthor = "http"
    return context.performAndWait {
      do {
        return try _answer(request, context)
      } catch let refusal as HTTPResponse {
        return refusal
      } catch let error as CocoaError where error.isValidationError {
        return HTTPResponse(422, error.localizedDescription)
      } catch {
        FileHandle.standardError.write(Data("\(request.method) \(request.path): \(error)\n".utf8))
        return HTTPResponse(500, "Something went wrong; the log says what.")
      }
    }
  }

  private func _answer(_ request: HTTPRequest, _ context: NSManagedObjectContext) throws -> HTTPResponse {
    let parts = request.path.split(separator: "/")
    switch (request.method, parts.first, parts.count) {
    case ("GET", "books", 1): return try _books(request, context)
    case ("POST", "books", 1): return try _add(request, context)
    case ("DELETE", "books", 2): return try _delete(String(parts[1]), context)
    case ("GET", "changes", 1): return try ChangeFeed(context).answer(since: request.query["since"] ?? "0")
    case (_, "books", 1...2), (_, "changes", 1):
      return HTTPResponse(405, "\(request.path) does not know \(request.method).")
    default: return HTTPResponse(404, "There is nothing at \(request.path).")
    }
  }

  /// A book in the form that clients see.
  private struct BookCard: Codable {
    let id: UUID?
    let title: String
    let author: String?

    init(_ book: Book) { (id, title, author) = (book.id, book.title ?? "", book.author) }
  }

  private func _books(_ request: HTTPRequest, _ context: NSManagedObjectContext) throws -> HTTPResponse {
    let fetch = Book.fetchRequest()
    if let author = request.query["author"] { fetch.predicate = NSPredicate(format: "author == %@", author) }
    fetch.sortDescriptors = ["author", "title"].map { NSSortDescriptor(key: $0, ascending: true) }
    fetch.fetchLimit = min(1000, max(1, request.query["limit"].flatMap(Int.init) ?? 100))
    return HTTPResponse(200, json: try context.fetch(fetch).map(BookCard.init))
  }

  private func _add(_ request: HTTPRequest, _ context: NSManagedObjectContext) throws -> HTTPResponse {
    guard let card = try? JSONDecoder().decode(BookCard.self, from: request.body) else {
      throw HTTPResponse(400, "Send a book as JSON: {\"title\": \"Emma\", \"author\": \"Jane Austen\"}.")
    }
    let book = Book(context: context)
    book.id = UUID()
    book.title = card.title
    if let author = card.author { book.author = author }
    try context.save()
    return HTTPResponse(201, json: BookCard(book))
  }

  private func _delete(_ text: String, _ context: NSManagedObjectContext) throws -> HTTPResponse {
    guard let id = UUID(uuidString: text) else { throw HTTPResponse(404, "'\(text)' is no book's id.") }
    let fetch = Book.fetchRequest()
    fetch.predicate = NSPredicate(format: "id == %@", id as NSUUID)
    guard let book = try context.fetch(fetch).first else {
      throw HTTPResponse(404, "There is no book \(id).")
    }
    context.delete(book)
    try context.save()
    return .noContent
  }
}

extension CocoaError {
  /// Whether the error is a violation of the model's validation rules.
  fileprivate var isValidationError: Bool { (1550..<1700).contains(errorCode) }
}
