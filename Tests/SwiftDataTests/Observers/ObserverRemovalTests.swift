import SwiftData
import TestSupport
import Testing

/// Contexts and observers that the notification center lets go when it removes an observer's block.
@Suite struct ObserverRemovalTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
  }

  @Test func `a context can be let go by an observer that is removed`() {
    #expect(ObserverBlock.letsGo { ModelContext(_container) })
  }

  @Test func `live results can be let go by an observer that is removed`() throws {
    let context = ModelContext(_container)
    try #expect(
      ObserverBlock.letsGo {
        try ResultsObserver<Shelf, Never>(sortBy: [SortDescriptor(\.code)], modelContext: context)
      })
  }

  @Test func `an observer of the history can be let go by an observer that is removed`() throws {
    try #expect(ObserverBlock.letsGo { try HistoryObserver(modelContainer: _container) })
  }
}
