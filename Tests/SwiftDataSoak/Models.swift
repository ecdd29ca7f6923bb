import SwiftData

@Model final class Shelf {
  @Attribute(.unique) var code: String
  var room: String
  var count = 0
  @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var volumes: [Volume] = []

  init(code: String, room: String = "") {
    self.code = code
    self.room = room
  }
}

@Model final class Volume {
  #Index<Volume>([\.title])

  @Attribute(.preserveValueOnDeletion) var title: String
  var pages: Int
  var tags: [String] = []
  var size = Size(width: 1, height: 2)
  var shelf: Shelf?
  var topics: [Topic] = []

  init(title: String, pages: Int = 0) {
    self.title = title
    self.pages = pages
  }

  struct Size: Codable, Equatable {
    var width: Double
    var height: Double
  }
}

@Model final class Topic {
  @Attribute(.unique) var name: String
  @Relationship(inverse: \Volume.topics) var volumes: [Volume] = []

  init(name: String) { self.name = name }
}

@ModelActor actor Librarian {
  func add(_ code: String) throws -> PersistentIdentifier {
    let shelf = Shelf(code: code)
    modelContext.insert(shelf)
    try modelContext.save()
    return shelf.persistentModelID
  }

  func move(_ id: PersistentIdentifier, to room: String) throws -> Bool {
    guard let shelf = self[id, as: Shelf.self] else { return false }
    shelf.room = room
    try modelContext.save()
    return shelf.room == room
  }
}

@Model final class Reading {
  var value: Int

  init(_ value: Int) { self.value = value }
}
