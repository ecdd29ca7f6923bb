import CoreData
import CoreDataStacks

// Written by hand, as the stack library's sample has them: native sets, and a publisher without a class of
// its own.

final class Author: NSManagedObject, CoreDataModelable {
  static let entityName = "Author"

  @NSManaged var firstName: String?
  @NSManaged var lastName: String?
  @NSManaged var books: Set<Book>
}

final class Book: NSManagedObject, CoreDataModelable {
  static let entityName = "Book"

  @NSManaged var title: String?
  @NSManaged var authors: Set<Author>
  @NSManaged var publisher: NSManagedObject
}
