import SwiftData
import Testing

/// The results of predicates, over saved and unsaved models.
struct PredicateTests {
  private let _context: ModelContext
  private let _volumes: [String: Volume]

  init() throws {
    _context = try ModelContext.ofShelves()
    let (hall, attic) = (Shelf(code: "A", room: "hall"), Shelf(code: "B", room: "attic"))
    _context.insert(hall)
    _context.insert(attic)
    let (one, two, three) = (
      Volume(title: "One", pages: 10), Volume(title: "Two", pages: 20, kind: .manual),
      Volume(title: "Éa", pages: 30)
    )
    for volume in [one, two, three] { _context.insert(volume) }
    one.shelf = hall
    two.shelf = attic
    one.price = 9.99
    two.bought = Date(timeIntervalSinceReferenceDate: 1000)
    one.tags = ["x"]
    two.state = .lost
    three.size.note = "big"
    one.topics = [Topic(name: "t1"), Topic(name: "t2")]
    _volumes = ["One": one, "Two": two, "Éa": three]
    try _context.save()
  }

  /// Returns the titles that a predicate finds: in the store, then among unsaved changes.
  private func _titles(_ predicate: Predicate<Volume>) throws -> [String] {
    let stored = try _context.fetch(FetchDescriptor<Volume>(predicate: predicate)).map(\.title).sorted()
    for volume in _volumes.values { volume.pages += 0 }
    let pending = try _context.fetch(FetchDescriptor<Volume>(predicate: predicate)).map(\.title).sorted()
    #expect(stored == pending)
    #expect(try _context.fetchCount(FetchDescriptor<Volume>(predicate: predicate)) == stored.count)
    _context.rollback()
    return stored
  }

  @Test func `numbers, dates and decimals compare`() throws {
    let (price, date) = (Decimal(9.99), Date(timeIntervalSinceReferenceDate: 500))
    #expect(try _titles(#Predicate { $0.pages >= 20 && $0.pages != 30 }) == ["Two"])
    #expect(try _titles(#Predicate { ($0.bought ?? date) > date }) == ["Two"])
    #expect(try _titles(#Predicate { $0.price == price }) == ["One"])
    #expect(try _titles(#Predicate { $0.pages + 5 == 15 }) == ["One"])
    #expect(try _titles(#Predicate { (10...20).contains($0.pages) }) == ["One", "Two"])
  }

  @Test func `texts compare`() throws {
    #expect(try _titles(#Predicate { $0.title.contains("n") }) == ["One"])
    #expect(try _titles(#Predicate { $0.title.starts(with: "T") }) == ["Two"])
    #expect(try _titles(#Predicate { $0.title.localizedStandardContains("ea") }) == ["Éa"])
    #expect(try _titles(#Predicate { $0.title.isEmpty }) == [])
  }

  @Test func `nil and negations`() throws {
    #expect(try _titles(#Predicate { $0.price == nil }) == ["Two", "Éa"])
    #expect(try _titles(#Predicate { !($0.title == "One") }) == ["Two", "Éa"])
  }

  @Test func `captured collections`() throws {
    let titles: Set<String> = ["One", "Éa", "none"]
    #expect(try _titles(#Predicate { titles.contains($0.title) }) == ["One", "Éa"])
  }

  @Test func `relationships to one and to many`() throws {
    #expect(try _titles(#Predicate { $0.shelf?.room == "attic" }) == ["Two"])
    #expect(try _titles(#Predicate { $0.shelf == nil }) == ["Éa"])
    #expect(try _titles(#Predicate { $0.topics.contains { $0.name == "t2" } }) == ["One"])
    #expect(try _titles(#Predicate { !$0.topics.isEmpty }) == ["One"])
    #expect(try _titles(#Predicate { $0.topics.isEmpty == false }) == ["One"])
    #expect(try _titles(#Predicate { $0.topics.count == 2 }) == ["One"])
    #expect(try _titles(#Predicate { $0.topics.filter { $0.name == "t1" }.count == 1 }) == ["One"])
  }

  @Test func `identities`() throws {
    let one = try #require(_volumes["One"])
    let (id, ids) = (one.persistentModelID, [one.persistentModelID])
    #expect(try _titles(#Predicate { $0.persistentModelID == id }) == ["One"])
    #expect(try _titles(#Predicate { ids.contains($0.persistentModelID) }) == ["One"])
    let shelf = try #require(one.shelf?.persistentModelID)
    #expect(try _titles(#Predicate { $0.shelf?.persistentModelID == shelf }) == ["One"])
  }

  @Test func `generic code finds by identity and by a protocol's property`() throws {
    func find<T: Titled>(_ type: T.Type, _ id: PersistentIdentifier) throws -> T? {
      try _context.fetch(FetchDescriptor<T>(predicate: #Predicate { $0.persistentModelID == id })).first
    }
    func find<T: Titled>(_ type: T.Type, _ title: String) throws -> T? {
      try _context.fetch(FetchDescriptor<T>(predicate: #Predicate { $0.title == title })).first
    }
    let one = try #require(_volumes["One"])
    #expect(try find(Volume.self, one.persistentModelID) === one)
    #expect(try find(Volume.self, "One") === one)
  }

  @Test func `enumerations with raw values, and parts of structures`() throws {
    let kind = VolumeKind.manual
    #expect(try _titles(#Predicate { $0.kind == kind }) == ["Two"])
    #expect(try _titles(#Predicate { $0.size.note == "big" }) == ["Éa"])
    #expect(try _titles(#Predicate { $0.size.width == 1 }) == ["One", "Two", "Éa"])
  }

  @Test func `what stores can't say is found in memory`() throws {
    #expect(try _titles(#Predicate { $0.tags.contains("x") }) == ["One"])
    let state: VolumeState? = .lost
    #expect(try _titles(#Predicate { $0.state == state }) == ["Two"])
    let found = try _context.fetch(
      {
        var descriptor = FetchDescriptor<Volume>(
          predicate: #Predicate { $0.tags.isEmpty }, sortBy: [SortDescriptor(\.pages, order: .reverse)])
        descriptor.fetchOffset = 1
        descriptor.fetchLimit = 1
        return descriptor
      }())
    #expect(found.map(\.title) == ["Two"])
  }

  @Test func `branches and constants`() throws {
    let flag = false
    let limit = 15
    #expect(
      try _titles(#Predicate { if let shelf = $0.shelf { shelf.code == "A" } else { false } }) == ["One"])
    #expect(try _titles(#Predicate { $0.pages > 15 ? $0.title == "Two" : true }) == ["One", "Two"])
    #expect(try _titles(#Predicate { flag || $0.pages > limit }) == ["Two", "Éa"])
    #expect(try _titles(#Predicate { _ in true }).count == 3)
    #expect(try _titles(.false).isEmpty)
  }

  @Test func `an unsaved model is found by its identity`() throws {
    let new = Volume(title: "New")
    _context.insert(new)
    let id = new.persistentModelID
    let found = try _context.fetch(
      FetchDescriptor<Volume>(predicate: #Predicate { $0.persistentModelID == id }))
    #expect(found.first === new)
  }
}

/// A protocol for models that a program declares.
protocol Titled: PersistentModel {
  var title: String { get }
}

extension Volume: Titled {}
