import SwiftData

// A small library with a property of every kind.

@Model final class Shelf {
  @Attribute(.unique) var code: String
  var room: String = ""
  @Relationship(deleteRule: .cascade, inverse: \Volume.shelf) var volumes: [Volume] = []

  init(code: String, room: String = "") {
    self.code = code
    self.room = room
  }
}

@Model final class Volume {
  #Index<Volume>([\.title], [\.title, \.pages])

  var title: String
  var pages: Int
  var price: Decimal?
  var bought: Date?
  var kind: VolumeKind
  var state: VolumeState?
  var size: VolumeSize
  var tags: [String] = []
  var marks: [String: Int] = [:]
  var link: URL?
  var weight: Float = 0
  var small: Int16 = 0
  var byte: UInt8 = 0
  var large: UInt = 0
  @Attribute(.externalStorage) var cover: Data?
  @Transient var isOpen = false
  var shelf: Shelf?
  var topics: [Topic] = []

  init(title: String, pages: Int = 0, kind: VolumeKind = .novel) {
    self.title = title
    self.pages = pages
    self.kind = kind
    size = VolumeSize(width: 1, height: 2, note: nil)
  }
}

@Model final class Topic {
  var name: String
  @Relationship(inverse: \Volume.topics) var volumes: [Volume] = []

  init(name: String) { self.name = name }
}

enum VolumeKind: String, Codable, CaseIterable { case novel, manual }
enum VolumeState: Codable, Equatable { case lent(to: String), lost, sold(Decimal, Int) }

struct VolumeSize: Codable, Equatable {
  var width: Double
  var height: Double
  var note: String?
  var fold: Fold = Fold(count: 2, kind: .inner)

  struct Fold: Codable, Equatable {
    var count: Int
    var kind: Edge
  }

  enum Edge: Codable { case outer, inner }
}

extension ModelContext {
  /// Returns a context of a new store in memory.
  static func ofShelves() throws -> ModelContext {
    ModelContext(try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true)))
  }

  /// Returns all models of a class, as another context of the container fetches them.
  func stored<T: PersistentModel>(_ type: T.Type) throws -> [T] {
    try ModelContext(container).fetch(FetchDescriptor<T>())
  }
}
