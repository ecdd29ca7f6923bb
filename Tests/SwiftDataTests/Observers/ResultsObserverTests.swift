import SwiftData
import Testing

/// Live results.
@MainActor
struct ResultsObserverTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    for (code, room) in [("B", "hall"), ("A", "attic"), ("C", "hall")] {
      _container.mainContext.insert(Shelf(code: code, room: room))
    }
    try _container.mainContext.save()
  }

  @Test func `results follow the context`() throws {
    let context = _container.mainContext
    let observer = try ResultsObserver<Shelf, Never>(sortBy: [SortDescriptor(\.code)], modelContext: context)
    #expect(observer.results.map(\.code) == ["A", "B", "C"] && observer.sections == nil)
    let heard = Heard()
    withObservationTracking {
      _ = observer.results
    } onChange: {
      heard.count()
    }
    context.insert(Shelf(code: "D"))
    context.processPendingChanges()
    #expect(heard.times == 1 && observer.results.map(\.code) == ["A", "B", "C", "D"])
    observer.filterBy = #Predicate { $0.code == "D" }
    #expect(observer.results.map(\.code) == ["D"])
  }

  @Test func `results follow what others save`() async throws {
    let observer = try ResultsObserver<Shelf, Never>(
      sortBy: [SortDescriptor(\.code)], modelContainer: _container)
    let container = _container
    try await Task.detached {
      let context = ModelContext(container)
      context.insert(Shelf(code: "Z"))
      try context.save()
    }.value
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(observer.results.map(\.code) == ["A", "B", "C", "Z"])
  }

  @Test func `sections divide the results`() throws {
    let observer = try ResultsObserver<Shelf, String>(
      sortBy: [SortDescriptor(\.room), SortDescriptor(\.code)], sectionBy: \.room,
      modelContext: _container.mainContext)
    let sections = try #require(observer.sections)
    #expect(sections.sectionNames == ["attic", "hall"] && sections.map(\.count) == [1, 2])
    #expect(sections[sectionName: "hall"]?.map(\.code) == ["B", "C"])
    #expect(sections.index(ofSectionNamed: "hall") == 1 && !sections.contains(sectionName: "cellar"))
    let last = try #require(observer.element(at: IndexPath(indexes: [1, 1])))
    #expect(last.code == "C" && observer.indexPath(for: last) == IndexPath(indexes: [1, 1]))
    #expect(observer.element(at: IndexPath(indexes: [2, 0])) == nil)
  }

  @Test func `history is counted by class and author`() async throws {
    let observer = try HistoryObserver(
      observedModels: [Shelf.self], authors: ["ann"], modelContainer: _container)
    let context = _container.mainContext
    context.author = "bob"
    context.insert(Shelf(code: "X"))
    try context.save()
    context.author = "ann"
    context.insert(Shelf(code: "Y"))
    context.insert(Topic(name: "t"))
    try context.save()
    for _ in 0..<200 where observer.eventCounter == 0 { try await Task.sleep(for: .milliseconds(20)) }
    #expect(observer.eventCounter == 1)
  }

  @Test func `each setting fetches anew, and places are those of one section without sections`() throws {
    let observer = try ResultsObserver<Shelf, Never>(modelContext: _container.mainContext)
    observer.sortBy = [SortDescriptor(\.code, order: .reverse)]
    #expect(observer.results.map(\.code) == ["C", "B", "A"])
    #expect(observer.sortBy.count == 1 && observer.filterBy == nil)
    var descriptor = FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)])
    descriptor.fetchLimit = 2
    observer.fetchDescriptor = descriptor
    #expect(observer.results.map(\.code) == ["A", "B"])
    let second = try #require(observer.element(at: IndexPath(indexes: [0, 1])))
    #expect(second.code == "B" && observer.indexPath(for: second) == IndexPath(indexes: [0, 1]))
    for path in [[0, 2], [1, 0], [0]] { #expect(observer.element(at: IndexPath(indexes: path)) == nil) }
    #expect(observer.indexPath(for: Shelf(code: "X")) == nil)
    #expect(String(reflecting: observer).contains("2 models"))
  }

  @Test func `assigned results last until the next change`() throws {
    let context = _container.mainContext
    let observer = try ResultsObserver<Shelf, Never>(sortBy: [SortDescriptor(\.code)], modelContext: context)
    let last = try ResultsObserver<Shelf, Never>(
      filterBy: #Predicate { $0.code == "C" }, modelContext: context)
    observer.results = last.results
    #expect(observer.results.map(\.code) == ["C"])
    context.insert(Shelf(code: "D"))
    context.processPendingChanges()
    #expect(observer.results.map(\.code) == ["A", "B", "C", "D"])
  }
}
