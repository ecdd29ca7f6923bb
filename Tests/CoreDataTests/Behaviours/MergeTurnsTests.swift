import CoreData
import Foundation
import Synchronization
import Testing

/// Merges into a context of the main queue, when more than one waits.
@Suite struct MergeTurnsTests {
  private func main(_ stack: TestStack) -> NSManagedObjectContext {
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = stack.coordinator
    main.automaticallyMergesChangesFromParent = true
    return main
  }

  /// Saves several times while the main queue is held up, and then notes what runs on it, in order.
  private func order(
    _ send: @escaping @Sendable (NSManagedObjectContext, @escaping @Sendable (String) -> Void) -> Void
  )
    async throws -> [String]
  {
    let stack = try TestStack(.memory)
    let main = main(stack)
    let notes = Mutex<[String]>([])
    let note: @Sendable (String) -> Void = { text in notes.withLock { $0.append(text) } }
    let observer = NotificationCenter.default.addObserver(
      forName: NSManagedObjectContext.didMergeChangesObjectIDsNotification, object: main, queue: nil
    ) { _ in note("merge") }
    defer { NotificationCenter.default.removeObserver(observer) }
    try await MainActor.run {
      for number in 0..<3 {
        try stack.root.performAndWait {
          stack.root.insert("Tag", ["name": "\(number)"])
          try stack.root.save()
        }
      }
      send(main, note)
    }
    while notes.withLock({ $0.count }) < 4 { try await Task.sleep(nanoseconds: 1_000_000) }
    return notes.withLock { $0 }
  }

  @Test func whatElseTheMainQueueHasToDoIsDoneBetweenTwo() async throws {
    let order = try await order { _, note in DispatchQueue.main.async { note("other") } }
    #expect(order == ["merge", "other", "merge", "merge"])
  }

  @Test func aBlockSentToTheContextComesAfterAllSavesBeforeIt() async throws {
    let order = try await order { main, note in main.perform { note("block") } }
    #expect(order == ["merge", "merge", "merge", "block"])
  }
}
