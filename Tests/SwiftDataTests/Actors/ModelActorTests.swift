import SwiftData
import Testing

@ModelActor actor Librarian {
  func add(_ code: String) throws -> PersistentIdentifier {
    let shelf = Shelf(code: code)
    modelContext.insert(shelf)
    try modelContext.save()
    return shelf.persistentModelID
  }

  func move(_ id: PersistentIdentifier, to room: String) throws {
    self[id, as: Shelf.self]?.room = room
    try modelContext.save()
  }

  func room(of id: PersistentIdentifier) -> String? { self[id, as: Shelf.self]?.room }
  func volume(_ id: PersistentIdentifier) -> Bool { self[id, as: Volume.self] != nil }
  func prepare(_ code: String) { modelContext.insert(Shelf(code: code)) }
  var hasChanges: Bool { modelContext.hasChanges }
  var isOnMainThread: Bool { Thread.isMainThread }
}

/// Actors with their own contexts.
struct ModelActorTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
  }

  @Test func `an actor saves what others then find`() async throws {
    let actor = Librarian(modelContainer: _container)
    let id = try await actor.add("A")
    let context = ModelContext(_container)
    #expect((context.model(for: id) as? Shelf)?.code == "A")
  }

  @Test func `the subscript finds by identity and class`() async throws {
    let actor = Librarian(modelContainer: _container)
    let id = try await actor.add("A")
    try await Librarian(modelContainer: _container).move(id, to: "hall")
    #expect(await actor.room(of: id) == "hall")
    #expect(await !actor.volume(id))
    let context = ModelContext(_container)
    context.delete(try #require(try context.fetch(FetchDescriptor<Shelf>()).first))
    try context.save()
    #expect(await actor.room(of: id) == nil)
  }

  @MainActor @Test func `what an actor made on the main thread has changed waits for its save`() async throws
  {
    let actor = Librarian(modelContainer: _container)
    await actor.prepare("A")
    for _ in 0..<3 { await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } } }
    #expect(await actor.hasChanges)
    #expect(try ModelContext(_container).fetchCount(FetchDescriptor<Shelf>()) == 0)
  }

  @MainActor @Test func `an actor made on the main thread doesn't run there`() async {
    let actor = Librarian(modelContainer: _container)
    #expect(await !actor.isOnMainThread)
  }

  @Test func `many actors save at once`() async throws {
    let container = _container
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let actor = Librarian(modelContainer: container)
          for step in 0..<10 { _ = try await actor.add("\(number)-\(step)") }
        }
      }
      try await group.waitForAll()
    }
    #expect(try ModelContext(_container).fetchCount(FetchDescriptor<Shelf>()) == 80)
  }
}
