import CoreData
import Foundation
import Testing

@testable import CoreDataTesting

extension TestStoreSettings {
  /// The library's current model.
  static func library(in kind: TestStoreKind = .sqliteInMemory) -> TestStoreSettings {
    TestStoreSettings(model: "Library", bundle: .module, in: kind)
  }
}

@MainActor @Suite("Stores of tests", .coreData("Library", bundle: .module))
struct TestStoreTests {
  private let _store: TestStore

  init() throws { _store = try TestStore.current }

  @Test(arguments: 1...3) func `Each case of a test has a store of its own`(_: Int) throws {
    try _store.make(Tag.self)
    try _store.viewContext.save()
    #expect(try _store.rowCounts()["Tag"] == 1)
  }

  @Test func `The store in memory takes batch requests and records history`() throws {
    let description = try _store.makeDescription()
    description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
    let container = NSPersistentContainer(name: "Library", managedObjectModel: _store.model)
    container.persistentStoreDescriptions = [description]
    container.loadPersistentStores { #expect($1 == nil) }
    let insertion = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "novel"]])
    try container.viewContext.execute(insertion)
    let history = try container.viewContext.execute(
      NSPersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    let result = (history as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
    #expect(result?.first?.changes?.count == 1)
  }

  @Test(.coreData(.library(in: .inMemory)), arguments: [1])
  func `A test's own trait goes before that of its suite`(_: Int)
    throws
  {
    #expect(_store.kind.description == TestStoreKind.inMemory.description)
    #expect(_store.coordinator.persistentStores.first?.type == NSInMemoryStoreType)
  }

  @Test func `All tests of a process share one instance of a model`() throws {
    try withTestStore(.library()) { #expect($0.model === _store.model) }
  }

  @Test func `Child tasks know the test's store and the queues of contexts do not`() async throws {
    async let inTask = TestStore.current
    #expect(try await inTask === _store)
    let known = await _store.newBackgroundContext().perform { (try? TestStore.current) != nil }
    #expect(!known)
  }

  @Test func `A store in memory cannot be opened twice, and the error says what to do`() throws {
    let error = #expect(throws: TestStoreError.self) { try _store.reopen() }
    #expect(error?.description.contains(".sqliteFile") == true)
  }

  @Test nonisolated func `An object of the view context is not made on another thread`() async throws {
    let store = _store
    let error = #expect(throws: TestStoreError.self) { try store.make(Tag.self) }
    #expect(error?.description.contains("@MainActor") == true)
  }

  @Test func `A store is not opened where no test would take its failures`() async throws {
    let error = await _store.newBackgroundContext().perform {
      #expect(throws: TestStoreError.self) { try withTestStore(.library()) { _ in } }
    }
    #expect(error?.description.contains("openStore(_:)") == true)
  }

  @Test func `A store that cannot be discarded fails the test`() throws {
    struct Refusal: Error {}
    let kind = TestStoreKind("stubborn") { directory in
      NSPersistentStoreDescription(url: directory.appendingPathComponent("Store.sqlite"))
    } discard: { _ in
      throw Refusal()
    }
    let messages = try failures(.library(in: kind)) { _ in }
    #expect(messages == ["The test's store (stubborn) could not be removed: Refusal()"])
  }

  @Test func `A missing model is an error that names the bundle`() throws {
    let error = #expect(throws: TestStoreError.self) {
      try withTestStore(TestStoreSettings(model: "Absent", bundle: .module)) { _ in }
    }
    #expect(error?.description.contains("no model 'Absent'") == true)
  }

  @Test func `A container of the program's own class gets the store`() throws {
    final class OwnContainer: NSPersistentContainer, @unchecked Sendable {}
    let settings = TestStoreSettings(model: "Library", bundle: .module) { model in
      OwnContainer(name: "Library", managedObjectModel: model)
    }
    try withTestStore(settings) { store in
      #expect(store.container is OwnContainer)
      try store.make(Tag.self)
      try store.viewContext.save()
    }
  }
}

@MainActor @Suite("Stores of tests in files") struct TestStoreFileTests {
  @Test func `A second container on the file reads what the first has saved, and both are gone afterwards`()
    throws
  {
    var directory: URL?
    try withTestStore(.library(in: .sqliteFile)) { store in
      directory = try store.directory()
      try store.make(Tag.self)
      try store.viewContext.save()
      let other = try store.reopen()
      #expect(try other.viewContext.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 1)
    }
    let place = try #require(directory)
    #expect(!FileManager.default.fileExists(atPath: place.path))
  }

  @Test func `A custom kind has a directory, and discards what is outside of it`() throws {
    let discarded = Guarded<[URL?]>([])
    let kind = TestStoreKind("tracked") { directory in
      NSPersistentStoreDescription(url: directory.appendingPathComponent("Tracked.sqlite"))
    } discard: { description in
      discarded.withLock { $0.append(description.url) }
    }
    let url = try withTestStore(.library(in: kind)) { $0.coordinator.persistentStores.first?.url }
    #expect(discarded.withLock { $0 } == [url])
  }

  @Test func `The next run removes what a process that has ended left, and nothing else`() throws {
    let place = FileManager.default.temporaryDirectory
    let (mine, gone) = (ProcessIdentity.current, ProcessIdentity(id: ProcessIdentity.current.id, start: 1))
    #expect(mine.isAlive)
    // The same ID with another start time is another process.
    #expect(!gone.isAlive)
    let names =
      [mine, gone].map { "CoreDataTesting-\($0.id)-\($0.start)-999999" } + ["CoreDataTesting-notes"]
    for name in names {
      try FileManager.default.createDirectory(
        at: place.appendingPathComponent(name), withIntermediateDirectories: true)
    }
    TestDirectory.removeLeftovers()
    #expect(
      names.map { FileManager.default.fileExists(atPath: place.appendingPathComponent($0).path) } == [
        true, false, true,
      ])
    for name in names { try? FileManager.default.removeItem(at: place.appendingPathComponent(name)) }
  }
}
