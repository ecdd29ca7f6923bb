import CoreData
import Foundation
import Synchronization
import Testing

@testable import SwiftData

/// How contexts learn of each other's saves, when they are used often, seldom or never.
struct NewsTests {
  private let _container: ModelContainer

  init() throws {
    _container = try ModelContainer(for: Shelf.self, configurations: .init(isStoredInMemoryOnly: true))
    let context = ModelContext(_container)
    for code in ["A", "B"] { context.insert(Shelf(code: code)) }
    try context.save()
  }

  private func _save(times count: Int) throws {
    let context = ModelContext(_container)
    for number in 0..<count {
      context.insert(Topic(name: "\(number)"))
      try context.save()
    }
  }

  private func _shelf(_ code: String, in context: ModelContext) throws -> Shelf {
    try #require(try context.fetch(FetchDescriptor<Shelf>(predicate: #Predicate { $0.code == code })).first)
  }

  @Test func `a context that is not used keeps a bounded number of saved objects`() throws {
    let (context, other) = (ModelContext(_container), ModelContext(_container))
    for _ in 0..<3 {
      for number in 0..<900 { other.insert(Topic(name: "\(number)")) }
      try other.save()
    }
    guard case .everything = context.mailbox.drain() else {
      Issue.record("the context keeps all saves")
      return
    }
  }

  @Test func `an observer is woken once for the saves that wait, and again after they are taken`() throws {
    let (context, other) = (ModelContext(_container), ModelContext(_container))
    let wakes = Wakes()
    context.mailbox.addWake(for: wakes) { wakes.count.withLock { $0 += 1 } }
    func save() throws {
      other.insert(Topic(name: "x"))
      try other.save()
    }
    try save()
    try save()
    #expect(wakes.count.withLock { $0 } == 1)
    _ = context.mailbox.drain()
    try save()
    #expect(wakes.count.withLock { $0 } == 2)
    context.mailbox.removeWake(for: wakes)
    _ = context.mailbox.drain()
    try save()
    #expect(wakes.count.withLock { $0 } == 2)
  }

  @Test(arguments: [0, 100])
  func `a model whose row another context deleted leaves its context`(saves: Int) throws {
    let (context, other) = (ModelContext(_container), ModelContext(_container))
    let (gone, kept) = (try _shelf("A", in: context), try _shelf("B", in: context))
    let id = gone.persistentModelID
    other.delete(try _shelf("A", in: other))
    try _shelf("B", in: other).room = "hall"
    try other.save()
    try _save(times: saves)
    #expect(try context.fetch(FetchDescriptor<Shelf>()).map(\.code) == ["B"])
    #expect(kept.room == "hall")
    #expect(gone.isDeleted || gone.modelContext == nil)
    try context.save()
    #expect(context.registeredModel(for: id) as Shelf? == nil)
  }

  @Test func `unsaved changes survive rereading everything`() throws {
    let (context, other) = (ModelContext(_container), ModelContext(_container))
    try _shelf("A", in: context).room = "attic"
    context.insert(Shelf(code: "C"))
    try _shelf("B", in: other).room = "hall"
    try other.save()
    try _save(times: 100)
    #expect(
      try context.fetch(FetchDescriptor<Shelf>(sortBy: [SortDescriptor(\.code)])).map(\.room) == [
        "attic", "hall", "",
      ])
    try context.save()
    #expect(try context.stored(Shelf.self).count == 3)
  }

  @Test func `erasing makes models leave all contexts`() throws {
    let context = ModelContext(_container)
    let shelf = try _shelf("A", in: context)
    let id = shelf.persistentModelID
    try _container.erase()
    #expect(try context.fetch(FetchDescriptor<Shelf>()).isEmpty)
    try context.save()
    #expect(context.registeredModel(for: id) as Shelf? == nil)
    #expect(shelf.isDeleted || shelf.modelContext == nil)
  }

  @MainActor @Test func `all observers of a context follow the saves of others`() async throws {
    let context = ModelContext(_container)
    let shelves = try ResultsObserver<Shelf, Never>(modelContext: context)
    let topics = try ResultsObserver<Topic, Never>(modelContext: context)
    let container = _container
    try await Task.detached {
      let other = ModelContext(container)
      other.insert(Shelf(code: "C"))
      other.insert(Topic(name: "t"))
      try other.save()
    }.value
    for _ in 0..<200 where shelves.results.count < 3 || topics.results.isEmpty {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(shelves.results.count == 3 && topics.results.count == 1)
  }

  @Test func `an observer lets its actor go`() async throws {
    weak var watcher: Watcher?
    do {
      let made = Watcher(modelContainer: _container)
      watcher = made
      #expect(try await made.watch() == 2)
    }
    for _ in 0..<1000 where watcher != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(watcher == nil)
  }

  @MainActor @Test func `a context that is let go saves what it was to autosave`() async throws {
    do {
      let context = ModelContext(_container)
      context.insert(Shelf(code: "C"))
    }
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    #expect(try ModelContext(_container).fetchCount(FetchDescriptor<Shelf>()) == 3)
  }
}

@ModelActor private actor Watcher {
  private var _observer: ResultsObserver<Shelf, Never>?

  func watch() throws -> Int {
    let observer = try ResultsObserver<Shelf, Never>(modelContext: modelContext)
    _observer = observer
    return observer.results.count
  }
}

private final class Wakes: Sendable {
  let count = Mutex(0)
}
