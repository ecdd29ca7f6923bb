import CoreData
import CoreDataStacks
import Foundation
import Testing

/// Calls that compile on Apple's platforms, where array literals convert to sets.
@Suite("Methods that add and remove members of a to-many")
struct ToManyMethodTests {
  private func context(of model: String) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(
      managedObjectModel: Bundle.module.managedObjectModel(name: model))
    try coordinator.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @Test func `generated methods take a member, an array or a set`() throws {
    let context = try context(of: "Container_Example")
    context.performAndWait {
      let book = ContainedBook(context: context)
      let authors = (0..<4).map { _ in ContainedAuthor(context: context) }
      book.addToAuthors(authors[0])
      book.addToAuthors([authors[1]])
      book.addToAuthors(NSSet(array: [authors[2]]))
      book.addToAuthors(Set([authors[3]]) as NSSet)
      book.addToAuthors([])
      #expect(book.authors?.count == 4)
      book.removeFromAuthors([authors[0], authors[1]])
      book.removeFromAuthors(NSSet(object: authors[2]))
      #expect(book.authors?.allObjects as? [ContainedAuthor] == [authors[3]])
      book.removeFromAuthors(authors[3])
      book.addToAuthors(authors)
      book.removeFromAuthors(Set(authors))
      #expect(book.authors?.count == 0)
      authors.forEach(book.addToAuthors)
      #expect(book.authors?.count == 4)
    }
  }

  @Test func `declared methods that take a set take an array too`() throws {
    let context = try context(of: "Sample")
    context.performAndWait {
      let author = Author(managedObjectContext: context)
      let books = (0..<3).map { _ in Book(managedObjectContext: context) }
      author.addToBooks([books[0]])
      author.addToBooks(NSSet(array: [books[1]]))
      author.addToBooks(books[2])
      #expect(author.books == Set(books))
      author.removeFromBooks([books[0], books[2]])
      #expect(author.books == [books[1]])
      author.removeFromBooks([])
      #expect(author.books.count == 1)
    }
  }
}

// A custom class may accept the array itself.
extension ContainedAuthor {
  fileprivate func addToBooks(_ books: [ContainedBook]) { for book in books { addToBooks(book) } }
}

extension ToManyMethodTests {
  @Test func `a class's own method that takes an array is preferred`() throws {
    let context = try context(of: "Container_Example")
    context.performAndWait {
      let author = ContainedAuthor(context: context)
      author.addToBooks([ContainedBook(context: context)])
      #expect(author.books?.count == 1)
    }
  }
}
