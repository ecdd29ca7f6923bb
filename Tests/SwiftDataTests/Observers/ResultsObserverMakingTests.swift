import SwiftData
import Testing

/// The ways to make live results.
@MainActor
@Suite struct ResultsObserverMakingTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(for: Memo.self, configurations: .init(isStoredInMemoryOnly: true))
    for (text, room, tag) in [("b", "hall", "x"), ("a", "attic", nil), ("c", "hall", "y")] {
      _container.mainContext.insert(Memo(text: text, room: room, tag: tag))
    }
    try _container.mainContext.save()
  }

  private let _byText = [SortDescriptor(\Memo.text)]
  private let _byRoom = [SortDescriptor(\Memo.room), SortDescriptor(\Memo.text)]
  private let _byTag = [SortDescriptor(\Memo.tag), SortDescriptor(\Memo.text)]

  private func _texts(_ results: some Sequence<Memo>) -> [String] { results.map(\.text) }

  @Test func `without sections, of a context or a container, by a descriptor or its parts`() throws {
    let (context, container) = (_container.mainContext, _container)
    let descriptor = FetchDescriptor<Memo>(sortBy: _byText)
    let filter = #Predicate<Memo> { $0.text != "b" }
    let all: [ResultsObserver<Memo, Never>] = [
      try ResultsObserver(fetchDescriptor: descriptor, modelContext: context),
      try ResultsObserver(fetchDescriptor: descriptor, modelContainer: container),
      try ResultsObserver(sortBy: _byText, modelContext: context),
      try ResultsObserver(sortBy: _byText, modelContainer: container),
    ]
    for observer in all {
      #expect(_texts(observer.results) == ["a", "b", "c"])
      #expect(observer.sections == nil)
    }
    let some: [ResultsObserver<Memo, Never>] = [
      try ResultsObserver(filterBy: filter, sortBy: _byText, modelContext: context),
      try ResultsObserver(filterBy: filter, sortBy: _byText, modelContainer: container),
      try ResultsObserver(
        fetchDescriptor: FetchDescriptor(predicate: filter, sortBy: _byText), modelContext: context),
    ]
    for observer in some { #expect(_texts(observer.results) == ["a", "c"]) }
  }

  @Test func `in sections by a text`() throws {
    let (context, container) = (_container.mainContext, _container)
    let descriptor = FetchDescriptor<Memo>(sortBy: _byRoom)
    let all: [ResultsObserver<Memo, String>] = [
      try ResultsObserver(fetchDescriptor: descriptor, sectionBy: \.room, modelContext: context),
      try ResultsObserver(fetchDescriptor: descriptor, sectionBy: \.room, modelContainer: container),
      try ResultsObserver(sortBy: _byRoom, sectionBy: \.room, modelContext: context),
      try ResultsObserver(sortBy: _byRoom, sectionBy: \.room, modelContainer: container),
    ]
    for observer in all {
      let sections = try #require(observer.sections)
      #expect(sections.sectionNames == ["attic", "hall"])
      #expect(sections.map { _texts($0) } == [["a"], ["b", "c"]])
    }
  }

  @Test func `in sections by a text that may be missing`() throws {
    let (context, container) = (_container.mainContext, _container)
    let descriptor = FetchDescriptor<Memo>(sortBy: _byTag)
    let all: [ResultsObserver<Memo, String>] = [
      try ResultsObserver(fetchDescriptor: descriptor, sectionBy: \.tag, modelContext: context),
      try ResultsObserver(fetchDescriptor: descriptor, sectionBy: \.tag, modelContainer: container),
      try ResultsObserver(sortBy: _byTag, sectionBy: \.tag, modelContext: context),
      try ResultsObserver(sortBy: _byTag, sectionBy: \.tag, modelContainer: container),
    ]
    for observer in all {
      let sections = try #require(observer.sections)
      #expect(sections.sectionNames == ["", "x", "y"])
      #expect(sections.map { _texts($0) } == [["a"], ["b"], ["c"]])
    }
  }
}

@Model private final class Memo {
  var text: String
  var room: String
  var tag: String?

  init(text: String, room: String, tag: String?) {
    self.text = text
    self.room = room
    self.tag = tag
  }
}
