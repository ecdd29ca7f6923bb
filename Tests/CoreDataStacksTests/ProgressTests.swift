import CoreData
import CoreDataStacks
import Foundation
import Testing

@Suite("Progress of set-up and saves")
struct ProgressTests {
  private let _directory: StoreDirectory

  init() throws { _directory = try StoreDirectory() }

  private func _expectCancelled(_ work: () async throws -> Void) async {
    await #expect { try await work() } throws: { ($0 as? CocoaError)?.code == .userCancelled }
  }

  @Test(arguments: StackPattern.allCases)
  func `Setup has a known number of units, all of which complete`(_ pattern: StackPattern)
    async throws
  {
    let progress = Progress(totalUnitCount: 0)
    _ = try await pattern.makeStack(
      model: SampleBooks.model(), at: .file(_directory.store), progress: progress)
    #expect(progress.totalUnitCount == (pattern == .sharedStore ? 3 : 2))
    #expect(progress.isFinished && progress.fractionCompleted == 1)
  }

  @Test(arguments: StackPattern.allCases)
  func `A set-up cancelled before it begins makes no file`(_ pattern: StackPattern) async throws {
    let progress = Progress(totalUnitCount: 0)
    progress.cancel()
    await _expectCancelled {
      _ = try await pattern.makeStack(
        model: SampleBooks.model(), at: .file(_directory.store), progress: progress)
    }
    #expect(!progress.isFinished)
    #expect(!FileManager.default.fileExists(atPath: _directory.store.path))
  }

  @Test func `The documented stack and its batch contexts report progress`() async throws {
    let (setUp, batch, late) = (
      Progress(totalUnitCount: 0), Progress(totalUnitCount: 0), Progress(totalUnitCount: 0)
    )
    let stack = try await CoreDataStack.constructSQLiteStack(
      model: SampleBooks.model(), at: _directory.store, progress: setUp)
    _ = try await stack.newBatchOperationContext(progress: batch)
    #expect(setUp.isFinished && batch.isFinished)
    late.cancel()
    await _expectCancelled { _ = try await stack.newBatchOperationContext(progress: late) }
  }

  @Test(arguments: StackPattern.allCases)
  func `Work reports its block, then its save level by level`(_ pattern: StackPattern) async throws {
    let stack = try await pattern.makeStack(model: SampleBooks.model(), at: .file(_directory.store))
    let progress = Progress(totalUnitCount: 0)
    try await stack.performWork(progress: progress) { Author(managedObjectContext: $0).name = "Ada" }
    #expect(progress.totalUnitCount == 2 && progress.isFinished && progress.fractionCompleted == 1)
    #expect(try _directory.storedNames() == ["Ada"])
  }

  @Test(arguments: StackPattern.allCases)
  func `Work cancelled by its block saves nothing`(_ pattern: StackPattern) async throws {
    let stack = try await pattern.makeStack(model: SampleBooks.model(), at: .file(_directory.store))
    let progress = Progress(totalUnitCount: 0)
    await _expectCancelled {
      try await stack.performWork(progress: progress) { context in
        Author(managedObjectContext: context).name = "Ada"
        progress.cancel()
      }
    }
    await stack.waitUntilIdle()
    #expect(try _directory.storedNames() == [])
    let main = stack.mainContext
    // If main is the worker, the program decides what happens to its unsaved changes.
    #expect(await main.perform { main.hasChanges } == (pattern == .single))
    #expect(!progress.isFinished)
  }

  @Test func `A save cancelled between levels leaves its changes pending`() async throws {
    let stack = try await StackPattern.nested2.makeStack(
      model: SampleBooks.model(), at: .file(_directory.store))
    // The stack does not propagate saves of contexts that it did not create.
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = stack.mainContext
    await child.perform { Author(managedObjectContext: child).name = "Ada" }
    let progress = Progress(totalUnitCount: 0)
    let token = NotificationCenter.default.addObserver(
      forName: .NSManagedObjectContextDidSave, object: child, queue: nil
    ) { _ in progress.cancel() }
    defer { NotificationCenter.default.removeObserver(token) }
    await _expectCancelled { try await child.saveContextToStore(progress: progress) }
    #expect(progress.totalUnitCount == 2 && progress.completedUnitCount == 1)
    #expect(try _directory.storedNames() == [])
    let main = stack.mainContext
    #expect(await main.perform { main.insertedObjects.count } == 1)
    try await main.saveContextToStore()
    #expect(try _directory.storedNames() == ["Ada"])
  }

  @Test func `Coordinator setup and resets report progress`() async throws {
    let (setUp, reset) = (Progress(totalUnitCount: 0), Progress(totalUnitCount: 0))
    let coordinator = try await NSPersistentStoreCoordinator.setupSQLiteBackedCoordinator(
      SampleBooks.model(), storeFileURL: _directory.store, progress: setUp)
    #expect(setUp.isFinished && coordinator.persistentStores.count == 1)
    let stack = try await CoreDataStack.constructSQLiteStack(model: SampleBooks.model(), at: _directory.store)
    try await stack.resetStore(progress: reset)
    #expect(reset.totalUnitCount == 2 && reset.isFinished)
    let cancelled = Progress(totalUnitCount: 0)
    cancelled.cancel()
    await _expectCancelled { try await stack.resetStore(progress: cancelled) }
  }

  @Test
  @MainActor func `A scratch pad saves level by level without blocking a queue`() async throws {
    let stack = try await StackPattern.nested3.makeStack(
      model: SampleBooks.model(), at: .file(_directory.store))
    let pad = ScratchPad<Author>(inserting: "Author", in: stack.mainContext)
    pad.object.name = "Ada"
    let progress = Progress(totalUnitCount: 0)
    try await pad.saveToStore(progress: progress)
    #expect(progress.totalUnitCount == 3 && progress.isFinished)
    #expect(try _directory.storedNames() == ["Ada"])
  }
}
