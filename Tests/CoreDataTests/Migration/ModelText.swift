/// Concise model XML for migrations.
enum ModelText {
  static func text(_ name: String, _ more: String = "optional=\"YES\"") -> String {
    "<attribute name=\"\(name)\" attributeType=\"String\" \(more)/>"
  }

  static func number(_ name: String, _ more: String = "optional=\"YES\"") -> String {
    "<attribute name=\"\(name)\" attributeType=\"Integer 64\" \(more)/>"
  }

  static func entity(_ name: String, _ more: String = "", _ properties: String...) -> String {
    "<entity name=\"\(name)\" \(more)>\(properties.joined())</entity>"
  }

  static func one(_ name: String, _ to: String, _ inverse: String? = nil, _ more: String = "") -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"\(to)\" "
      + "\(inverse.map { "inverseName=\"\($0)\" inverseEntity=\"\(to)\"" } ?? "") \(more)/>"
  }

  static func many(_ name: String, _ to: String, _ inverse: String? = nil, _ more: String = "") -> String {
    "<relationship name=\"\(name)\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"\(to)\" "
      + "\(inverse.map { "inverseName=\"\($0)\" inverseEntity=\"\(to)\"" } ?? "") \(more)/>"
  }

  /// Authors and their books.
  static let library =
    entity("Author", "", text("name"), many("books", "Book", "author"))
    + entity("Book", "", text("title"), number("pages"), one("author", "Author", "books"))

  /// The library with books that are works, pages as text and a publisher for each author; a lightweight
  /// migration cannot produce it.
  static let publishing =
    entity("Author", "", text("name"), text("initial"), many("works", "Work", "author"))
    + entity("Work", "", text("title"), text("length"), one("author", "Author", "works"))
    + entity("House", "", text("name"))
}
