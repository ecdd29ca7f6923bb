@testable import CoreData

/// A small library: books with pages by an author, who is a person.
struct SampleLibrary {
  let model = NSManagedObjectModel()
  let person = NSEntityDescription()
  let author = NSEntityDescription()
  let book = NSEntityDescription()
  let name = NSAttributeDescription()
  let title = NSAttributeDescription()
  let pages = NSAttributeDescription()
  let books = NSRelationshipDescription()
  let writer = NSRelationshipDescription()

  init() {
    person.name = "Person"
    person.isAbstract = true
    author.name = "Author"
    book.name = "Book"
    name.name = "name"
    name.attributeType = .stringAttributeType
    person.properties = [name]
    person.subentities = [author]
    title.name = "title"
    title.attributeType = .stringAttributeType
    title.isOptional = false
    pages.name = "pages"
    pages.attributeType = .integer32AttributeType
    pages.defaultValue = 100
    writer.name = "writer"
    writer.maxCount = 1
    writer.destinationEntity = author
    books.name = "books"
    books.destinationEntity = book
    books.inverseRelationship = writer
    writer.inverseRelationship = books
    author.properties = [books]
    book.properties = [title, pages, writer]
    model.entities = [person, author, book]
  }
}
