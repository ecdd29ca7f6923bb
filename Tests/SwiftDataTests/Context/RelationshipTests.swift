import SwiftData
import Testing

/// Relationships between models.
struct RelationshipTests {
  @Test func `setting one side sets the other`() throws {
    let context = try ModelContext.ofShelves()
    let (shelf, volume) = (Shelf(code: "A"), Volume(title: "One"))
    context.insert(shelf)
    context.insert(volume)
    volume.shelf = shelf
    #expect(shelf.volumes.map(\.title) == ["One"])
    shelf.volumes = []
    #expect(volume.shelf == nil)
  }

  @Test func `an assigned array keeps its order before the save`() throws {
    let context = try ModelContext.ofShelves()
    let shelf = Shelf(code: "A")
    context.insert(shelf)
    let titles = (0..<20).map { "\($0)" }.shuffled()
    shelf.volumes = titles.map { Volume(title: $0) }
    #expect(shelf.volumes.map(\.title) == titles)
    try context.save()
    #expect(shelf.volumes.map(\.title) == titles)
    shelf.volumes.append(Volume(title: "last"))
    #expect(shelf.volumes.map(\.title) == titles + ["last"])
    shelf.volumes.removeAll { $0.title == titles[3] }
    #expect(shelf.volumes.map(\.title) == titles.filter { $0 != titles[3] } + ["last"])
  }

  @Test func `appending a new model inserts it`() throws {
    let context = try ModelContext.ofShelves()
    let (shelf, volume) = (Shelf(code: "A"), Volume(title: "One"))
    context.insert(shelf)
    shelf.volumes.append(volume)
    #expect(volume.modelContext === context && volume.shelf === shelf)
  }

  @Test func `relating a new model to an inserted one inserts it`() throws {
    let context = try ModelContext.ofShelves()
    let (shelf, volume) = (Shelf(code: "A"), Volume(title: "One"))
    context.insert(shelf)
    volume.shelf = shelf
    #expect(volume.modelContext === context && shelf.volumes.count == 1)
  }

  @Test func `inserting either end of a graph stores both`() throws {
    for fromChild in [true, false] {
      let context = try ModelContext.ofShelves()
      let (shelf, volume) = (Shelf(code: "A"), Volume(title: "One"))
      shelf.volumes = [volume]
      volume.topics = [Topic(name: "x")]
      if fromChild { volume.shelf = shelf }
      if fromChild { context.insert(volume) } else { context.insert(shelf) }
      try context.save()
      let other = ModelContext(context.container)
      let stored = try other.fetch(FetchDescriptor<Volume>())
      #expect(stored.map(\.shelf?.code) == ["A"] && stored.first?.topics.map(\.name) == ["x"])
    }
  }

  @Test func `many-to-many is stored from one side`() throws {
    let context = try ModelContext.ofShelves()
    let topics = [Topic(name: "x"), Topic(name: "y")]
    for title in ["One", "Two"] {
      let volume = Volume(title: title)
      context.insert(volume)
      volume.topics = topics
    }
    try context.save()
    let other = ModelContext(context.container)
    let found = try other.fetch(FetchDescriptor<Topic>())
    #expect(found.map { Set($0.volumes.map(\.title)) } == [["One", "Two"], ["One", "Two"]])
  }

  @Test func `deleting nullifies or cascades`() throws {
    let context = try ModelContext.ofShelves()
    let (shelf, volume, topic) = (Shelf(code: "A"), Volume(title: "One"), Topic(name: "x"))
    context.insert(shelf)
    shelf.volumes = [volume]
    volume.topics = [topic]
    try context.save()
    context.delete(shelf)
    #expect(try context.fetchCount(FetchDescriptor<Volume>()) == 0)
    #expect(topic.volumes.isEmpty)
    try context.save()
    #expect(try context.stored(Topic.self).count == 1)
  }

  @Test func `a chain of new models is inserted whole`() throws {
    let context = try ModelContext(
      ModelContainer(for: Link.self, configurations: .init(isStoredInMemoryOnly: true)))
    var last = Link()
    let first = last
    for _ in 0..<5000 {
      let next = Link()
      last.next = next
      last = next
    }
    context.insert(first)
    #expect(context.insertedModelsArray.count == 5001)
  }

  @Test func `deny refuses the save until the others are deleted, too`() throws {
    let context = try ModelContext(
      ModelContainer(for: Guarded.self, configurations: .init(isStoredInMemoryOnly: true)))
    let guarded = Guarded()
    let held = Held(owner: guarded)
    context.insert(held)
    try context.save()
    context.delete(guarded)
    #expect(throws: (any Error).self) { try context.save() }
    context.delete(held)
    try context.save()
    #expect(try context.stored(Guarded.self).isEmpty)
  }
}

@Model final class Link {
  @Relationship(inverse: \Link.before) var next: Link?
  var before: Link?
  init() {}
}

@Model final class Guarded {
  @Relationship(deleteRule: .deny, inverse: \Held.owner) var held: [Held] = []
  init() {}
}

@Model final class Held {
  var owner: Guarded?
  init(owner: Guarded) { self.owner = owner }
}
