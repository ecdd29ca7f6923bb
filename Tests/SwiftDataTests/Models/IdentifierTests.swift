import SwiftData
import Testing

/// Identifiers of models, and what containers say of their stores.
@Suite struct IdentifierTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(
      for: Shelf.self, configurations: ModelConfiguration("shelves", isStoredInMemoryOnly: true))
  }

  @Test func `identifiers are ordered by store, entity and number`() throws {
    let context = ModelContext(_container)
    let topics = (0..<12).map { Topic(name: "\($0)") }
    let shelves = (0..<3).map { Shelf(code: "\($0)") }
    for shelf in shelves { context.insert(shelf) }
    for topic in topics { context.insert(topic) }
    try context.save()
    let sorted = (topics.map(\.persistentModelID) + shelves.map(\.persistentModelID)).sorted()
    #expect(
      sorted.map(\.entityName) == Array(repeating: "Shelf", count: 3) + Array(repeating: "Topic", count: 12))
    // As numbers: 9 comes before 10.
    #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0 < $1 && !($1 < $0) })
    let other = ModelContext(
      try ModelContainer(for: Shelf.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true)))
    let stranger = Shelf(code: "x")
    other.insert(stranger)
    try other.save()
    let (one, two) = (shelves[0].persistentModelID, stranger.persistentModelID)
    #expect((one < two) != (two < one))
    #expect((one < two) == ((one.storeIdentifier ?? "") < (two.storeIdentifier ?? "")))
  }

  @Test func `a store's identifier leads to its configuration`() throws {
    let identifier = try #require(_container.storeIdentifier(forConfigurationNamed: "shelves"))
    #expect(_container.configurationName(forStoreIdentifier: identifier) == "shelves")
    #expect(_container.configurationName(forStoreIdentifier: "none") == nil)
    #expect(_container.storeIdentifier(forConfigurationNamed: "none") == nil)
    #expect(_container.configurations.map(\.name) == ["shelves"])
    #expect(_container.migrationPlan == nil)
    let again = _container
    #expect(again == _container)
  }

  @Test func `all data is deleted at once`() throws {
    let context = ModelContext(_container)
    context.insert(Shelf(code: "A"))
    try context.save()
    _container.deleteAllData()
    #expect(try ModelContext(_container).fetchCount(FetchDescriptor<Shelf>()) == 0)
  }
}
