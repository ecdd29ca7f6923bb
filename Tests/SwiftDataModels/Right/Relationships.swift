// swift-format-ignore-file
import SwiftData

@Model final class Author {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  @Relationship(inverse: \Book.editors) var edited: [Book]
  var friend: Author?

  init(name: String) {
    self.name = name
    edited = []
  }
}

@Model final class Book {
  var title: String = ""
  var author: Author?
  var editors: [Author]?
  @Relationship(deleteRule: .deny) var publisher: Publisher
  @Relationship(.unique, deleteRule: .nullify, minimumModelCount: 1, maximumModelCount: 3, originalName: "sheets")
  var pages: [Page] = []
  @Relationship var cover: Cover?

  init(publisher: Publisher) { self.publisher = publisher }
}

@Model final class Publisher {
  @Relationship(deleteRule: .noAction, hashModifier: "2")
  public private(set) var books = [Book]?.some([])
  public private(set) var first = Book?.none
  init() {}
}

@Model final class Page {
  var number: Int
  var book: Book?
  @Relationship(inverse: \Page.previous) var next: Page?
  var previous: Page?
  init(number: Int) { self.number = number }
}

@Model final class Cover: Codable {
  var color: String
  var pages: [Cover] = []

  init(color: String) { self.color = color }
  init(from decoder: any Decoder) throws { color = try decoder.singleValueContainer().decode(String.self) }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(color)
  }
}

@Model final class Wrapped {
  var covers: [Cover]
  var cover: Cover?
  var required: Cover
  var optional: [Cover]?
  init(cover: Cover) {
    covers = [cover]
    required = cover
  }
}

@Model final class SelfReferring {
  var parent: SelfReferring?
  @Relationship(deleteRule: .cascade, inverse: \SelfReferring.parent) var children: [SelfReferring] = []
  init() {}
}
