import SwiftData
import Testing

/// Notifications to observers of the main context's models.
@MainActor
struct ObservationTests {
  private let _container: ModelContainer
  private let _shelf: Shelf

  init() throws {
    _container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    _shelf = Shelf(code: "A", room: "hall")
    _container.mainContext.insert(_shelf)
    try _container.mainContext.save()
  }

  private func _heard(of read: () -> Void, after change: () throws -> Void) rethrows -> Int {
    let heard = Heard()
    withObservationTracking(read) { heard.count() }
    try change()
    return heard.times
  }

  @Test func `a change through the inverse is told`() throws {
    let times = _heard {
      _ = _shelf.volumes
    } after: {
      let volume = Volume(title: "One")
      _container.mainContext.insert(volume)
      volume.shelf = _shelf
    }
    #expect(times == 1)
  }

  @Test func `a rollback is told`() throws {
    _shelf.room = "attic"
    let times = _heard {
      _ = _shelf.room
    } after: {
      _container.mainContext.rollback()
    }
    #expect(times == 1 && _shelf.room == "hall")
  }

  @Test func `a model shown again is observed as at first`() throws {
    let stored = Volume(title: "One")
    _container.mainContext.insert(stored)
    stored.shelf = _shelf
    try _container.mainContext.save()
    let context = ModelContext(_container)
    let shelf = try #require(try context.fetch(FetchDescriptor<Shelf>()).first)
    // The relationship keeps the stored object while instances come and go.
    for _ in 0..<3 {
      let volume = try #require(shelf.volumes.first)
      let registrar = volume._$observationRegistrar
      let times = _heard {
        registrar.access(volume, keyPath: \.title)
      } after: {
        registrar.withMutation(of: volume, keyPath: \.title) {}
      }
      #expect(times == 1)
    }
  }

  @Test func `what another context saves is told`() async throws {
    let (container, id) = (_container, _shelf.persistentModelID)
    let heard = Heard()
    withObservationTracking {
      _ = _shelf.room
    } onChange: {
      heard.count()
    }
    try await Task.detached {
      let context = ModelContext(container)
      (context.model(for: id) as? Shelf)?.room = "cellar"
      try context.save()
    }.value
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(heard.times == 1 && _shelf.room == "cellar")
  }

  @Test(arguments: [false, true])
  func `an observer of a model without context is told of its links, also after its insertion`(
    _ isInserted: Bool
  ) {
    for isLink in [false, true] {
      let (volume, shelf, topic) = (Volume(title: "One"), Shelf(code: "B"), Topic(name: "sea"))
      let times = _heard {
        if isLink { _ = volume.shelf } else { _ = volume.topics }
      } after: {
        if isInserted { _container.mainContext.insert(volume) }
        if isLink { volume.shelf = shelf } else { volume.topics.append(topic) }
      }
      #expect(times == 1)
      #expect(isLink ? volume.shelf === shelf : volume.topics.first === topic)
    }
  }
}
