import CoreData
import CoreDataStacks
import Foundation
import Testing

@Suite("Taking a stack's store away")
struct StoreRemovalTests {
  private let _directory: StoreDirectory

  init() throws { _directory = try StoreDirectory() }

  private func _stack(_ pattern: StackPattern, inMemory: Bool = false) async throws -> any ContextStack {
    try await pattern.makeStack(
      model: SampleBooks.model(), at: inMemory ? .memory : .file(_directory.store))
  }

  private func _insert(_ name: String, _ stack: any ContextStack) async throws {
    try await stack.performWork { Author(managedObjectContext: $0).name = name }
  }

  private func _count(_ stack: any ContextStack) async throws -> Int {
    let main = stack.mainContext
    return try await main.perform { try Author.countInContext(main) }
  }

  @Test(arguments: StackPattern.allCases)
  func `An emptied stack shows nothing, and goes on with a new file`(_ pattern: StackPattern) async throws {
    let stack = try await _stack(pattern)
    try await _insert("Ada", stack)
    let main = stack.mainContext
    // Unsaved, and visible in main: both are discarded.
    await main.perform { Author(managedObjectContext: main).name = "Unsaved" }
    let progress = Progress(totalUnitCount: 0)
    try await stack.emptyStore(progress: progress)
    #expect(progress.isFinished)
    #expect(try await _count(stack) == 0)
    try await _insert("Byron", stack)
    #expect(try await _count(stack) == 1)
    #expect(try _directory.storedNames() == ["Byron"])
  }

  @Test(arguments: StackPattern.allCases.filter { $0 != .sharedStore })
  func `A stack in memory is emptied as well`(_ pattern: StackPattern) async throws {
    let stack = try await _stack(pattern, inMemory: true)
    try await _insert("Ada", stack)
    try await stack.emptyStore()
    #expect(try await _count(stack) == 0)
    try await _insert("Byron", stack)
    #expect(try await _count(stack) == 1)
  }

  @Test(arguments: StackPattern.allCases)
  func `A removed store leaves no file and an empty stack`(_ pattern: StackPattern)
    async throws
  {
    let stack = try await _stack(pattern)
    try await _insert("Ada", stack)
    try await stack.removeStore()
    #expect(try FileManager.default.contentsOfDirectory(atPath: _directory.url.path) == [])
    for context in stack.keptContexts {
      #expect(await context.perform { context.registeredObjects.isEmpty })
    }
    for coordinator in stack.coordinators { #expect(coordinator.persistentStores.isEmpty) }
  }

  @Test(arguments: StackPattern.allCases)
  func `Emptying that is cancelled before it starts changes nothing`(_ pattern: StackPattern) async throws {
    let stack = try await _stack(pattern)
    try await _insert("Ada", stack)
    let progress = Progress(totalUnitCount: 0)
    progress.cancel()
    await #expect {
      try await stack.emptyStore(progress: progress)
    } throws: {
      ($0 as? CocoaError)?.code == .userCancelled
    }
    #expect(try await _count(stack) == 1)
  }
}
