import CoreData
import Foundation

/// The model of most behaviour tests: authors write books, novels are books, books have tags and ordered
/// chapters.
enum LibraryModel {
  static func make() -> NSManagedObjectModel {
    let author = entity("Author")
    let book = entity("Book")
    let novel = entity("Novel")
    let tag = entity("Tag")
    let chapter = entity("Chapter")
    let publication = entity("Publication")
    publication.isAbstract = true

    let books = relationship("books", to: book, many: true, rule: .cascadeDeleteRule)
    let writer = relationship("author", to: author)
    pair(books, writer)
    let mentor = relationship("mentor", to: author)
    let pupils = relationship("pupils", to: author, many: true)
    pair(mentor, pupils)
    author.properties = [
      attribute("name", .stringAttributeType),
      attribute("age", .integer16AttributeType, default: 18),
      books, mentor, pupils,
    ]

    let tags = relationship("tags", to: tag, many: true)
    let tagged = relationship("books", to: book, many: true)
    pair(tags, tagged)
    let chapters = relationship("chapters", to: chapter, many: true, ordered: true, rule: .cascadeDeleteRule)
    let owner = relationship("book", to: book)
    pair(chapters, owner)
    publication.properties = [attribute("title", .stringAttributeType)]
    book.properties = [
      attribute("pages", .integer32AttributeType, default: 0),
      attribute("copies", .integer64AttributeType),
      attribute("price", .doubleAttributeType),
      attribute("weight", .floatAttributeType),
      attribute("cost", .decimalAttributeType),
      attribute("published", .dateAttributeType),
      attribute("inPrint", .booleanAttributeType, default: true),
      attribute("cover", .binaryDataAttributeType),
      attribute("isbn", .UUIDAttributeType),
      attribute("page", .URIAttributeType),
      attribute("extra", .transformableAttributeType),
      transient("mark", .stringAttributeType),
      writer, tags, chapters,
    ]
    novel.properties = [attribute("genre", .stringAttributeType)]
    tag.properties = [attribute("name", .stringAttributeType), tagged]
    chapter.properties = [attribute("heading", .stringAttributeType), owner]
    publication.subentities = [book]
    book.subentities = [novel]

    let model = NSManagedObjectModel()
    model.entities = [author, publication, book, novel, tag, chapter]
    return model
  }

  static func entity(_ name: String) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = name
    return entity
  }

  static func attribute(_ name: String, _ type: NSAttributeType, default value: Any? = nil)
    -> NSAttributeDescription
  {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = true
    attribute.defaultValue = value
    return attribute
  }

  static func transient(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = attribute(name, type)
    attribute.isTransient = true
    return attribute
  }

  static func relationship(
    _ name: String, to destination: NSEntityDescription, many: Bool = false, ordered: Bool = false,
    rule: NSDeleteRule = .nullifyDeleteRule
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    relationship.name = name
    relationship.destinationEntity = destination
    relationship.isOptional = true
    relationship.minCount = 0
    relationship.maxCount = many ? 0 : 1
    relationship.isOrdered = ordered
    relationship.deleteRule = rule
    return relationship
  }

  static func pair(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) {
    one.inverseRelationship = other
    other.inverseRelationship = one
  }
}
