import CoreData
import CoreDataStacks
import Foundation

// Written by hand, as in the stack library's sample: native sets, and a publisher without its own class.

final class Author: NSManagedObject, CoreDataModelable {
  static let entityName = "Author"

  @NSManaged var firstName: String?
  @NSManaged var lastName: String?
  @NSManaged var books: Set<Book>

  @NSManaged func addToBooks(_ value: Book)
  @NSManaged func addToBooks(_ values: NSSet)
  @NSManaged func removeFromBooks(_ values: NSSet)
}

final class Book: NSManagedObject, CoreDataModelable {
  static let entityName = "Book"

  @NSManaged var title: String?
  @NSManaged var authors: Set<Author>
  @NSManaged var publisher: NSManagedObject
}
