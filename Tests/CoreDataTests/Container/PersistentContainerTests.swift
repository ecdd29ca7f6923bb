import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Persistent container")
struct PersistentContainerTests {
  /// A container with a separate directory for its stores.
  private final class ScratchContainer: NSPersistentContainer, @unchecked Sendable {
    // Unchecked: adds no state.
    static let directory = TemporaryPlace.make()
    override class func defaultDirectoryURL() -> URL { directory }
  }

  private func _container(_ name: String = UUID().uuidString) -> ScratchContainer {
    ScratchContainer(name: name, managedObjectModel: LibraryModel.make())
  }

  private func _load(_ container: NSPersistentContainer) -> [(NSPersistentStoreDescription, (any Error)?)] {
    var calls: [(NSPersistentStoreDescription, (any Error)?)] = []
    container.loadPersistentStores { calls.append(($0, $1)) }
    return calls
  }

  @Test func `The view context is main's and exists before stores load`() {
    let container = _container()
    #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
    #expect(container.viewContext.persistentStoreCoordinator === container.persistentStoreCoordinator)
    #expect((container.viewContext.mergePolicy as? NSMergePolicy)?.mergeType == .errorMergePolicyType)
    #expect(!container.viewContext.automaticallyMergesChangesFromParent)
  }

  @Test func `The default description is SQLite in the class's directory`() throws {
    let container = _container("Library")
    #expect(container.persistentStoreDescriptions.count == 1)
    let description = container.persistentStoreDescriptions[0]
    #expect(description.type == NSSQLiteStoreType)
    #expect(description.url == ScratchContainer.directory.appendingPathComponent("Library.sqlite"))
    #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
    #expect(!description.shouldAddStoreAsynchronously)
  }

  @Test func `a container without a model reports it and continues`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let container = NSPersistentContainer(name: "NoSuchModel")
      #expect(container.managedObjectModel.entities.isEmpty)
      #expect(NSEntityDescription.entity(forEntityName: "Book", in: container.viewContext) == nil)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("Failed to load model named NoSuchModel"))
    #expect(text.contains("no model 'NoSuchModel'"), "with what the bundles have")
  }

  @Test func `Loading reports each description once, before it returns`() throws {
    let container = _container()
    let memory = NSPersistentStoreDescription()
    memory.type = NSInMemoryStoreType
    container.persistentStoreDescriptions.append(memory)
    let calls = _load(container)
    #expect(calls.map(\.0) == container.persistentStoreDescriptions)
    #expect(calls.allSatisfy { $0.1 == nil })
    #expect(FileManager.default.fileExists(atPath: container.persistentStoreDescriptions[0].url!.path))
    #expect(_load(container).isEmpty)
  }

  @Test func `A store that fails to load reports why and can be retried`() throws {
    let container = _container()
    let missing = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/proc/no/such/Store.sqlite"))
    container.persistentStoreDescriptions = [missing]
    #expect(_load(container).map { $0.1 != nil } == [true])
    #expect(_load(container).count == 1)
  }

  @Test func `Loading asynchronously tells when the store is there`() async throws {
    let container = _container()
    container.persistentStoreDescriptions[0].shouldAddStoreAsynchronously = true
    let stores = await withCheckedContinuation { (done: CheckedContinuation<Int, Never>) in
      container.loadPersistentStores { _, _ in
        done.resume(returning: container.persistentStoreCoordinator.persistentStores.count)
      }
    }
    #expect(stores == 1)
  }

  @Test func `Background contexts are siblings of the view context`() async throws {
    struct Refused: Error {}
    let container = _container()
    _ = _load(container)
    let context = container.newBackgroundContext()
    #expect(context.parent == nil && context.concurrencyType == .privateQueueConcurrencyType)
    let count = try await container.performBackgroundTask { context in
      context.insert("Author", ["name": "Ada"])
      try context.save()
      return try context.count("Author")
    }
    #expect(count == 1)
    await #expect(throws: Refused.self) {
      try await container.performBackgroundTask { (_: NSManagedObjectContext) throws in throw Refused() }
    }
  }

  @Test func `loading makes the directory of every store`() throws {
    let directory = TemporaryPlace.make()
    defer { try? FileManager.default.removeItem(at: directory) }
    let container = _container()
    container.persistentStoreDescriptions = ["one/A.sqlite", "two/deep/B.sqlite"].map {
      NSPersistentStoreDescription(url: directory.appendingPathComponent($0))
    }
    #expect(_load(container).map { $0.1 == nil } == [true, true])
    #expect(container.persistentStoreCoordinator.persistentStores.count == 2)
  }

  /// A container whose directory is given without a trailing slash, as `appendingPathComponent(_:)` may
  /// return it.
  private final class BareContainer: NSPersistentContainer, @unchecked Sendable {
    // Unchecked: adds no state.
    static let directory = URL(fileURLWithPath: TemporaryPlace.make().path, isDirectory: false)
    override class func defaultDirectoryURL() -> URL { directory }
  }

  @Test func `loading creates a default directory given without a slash`() throws {
    defer { try? FileManager.default.removeItem(at: BareContainer.directory) }
    let container = BareContainer(name: "Library", managedObjectModel: LibraryModel.make())
    #expect(_load(container).map { $0.1 == nil } == [true])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: BareContainer.directory.path).contains(
        "Library.sqlite"))
  }

  @Test func `loading a store for reading makes no directory`() throws {
    let directory = TemporaryPlace.make()
    let container = _container()
    container.persistentStoreDescriptions[0].url = directory.appendingPathComponent("A.sqlite")
    container.persistentStoreDescriptions[0].isReadOnly = true
    #expect(_load(container).map { $0.1 != nil } == [true])
    #expect(!FileManager.default.fileExists(atPath: directory.path))
  }

  @Test func `a new description means SQLite in memory at the null device`() throws {
    let description = NSPersistentStoreDescription()
    #expect(description.url == URL(fileURLWithPath: "/dev/null"))
    #expect((description.copy() as? NSPersistentStoreDescription)?.url == description.url)
    let container = _container()
    // Two of them create two stores.
    container.persistentStoreDescriptions = [description, NSPersistentStoreDescription()]
    #expect(_load(container).map { $0.1 == nil } == [true, true])
    let context = container.viewContext
    try context.performAndWait {
      context.insert("Author", ["name": "Ada"])
      try context.save()
      #expect(try context.count("Author") == 1)
    }
    let other = _container()
    other.persistentStoreDescriptions = [NSPersistentStoreDescription()]
    #expect(_load(other).map { $0.1 == nil } == [true])
    #expect(try other.viewContext.performAndWait { try other.viewContext.count("Author") } == 0)
  }
}
