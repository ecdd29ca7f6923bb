import CoreData
import Foundation
import Synchronization
import Testing

/// Several merges that wait for a context of the main queue.
@Suite struct MergeTurnsTests {
  private func main(_ stack: TestStack) -> NSManagedObjectContext {
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = stack.coordinator
    main.automaticallyMergesChangesFromParent = true
    return main
  }

  /// Saves several times while the main queue is blocked, then records what runs on it, in order.
  private func order(
    ofSaves saves: Int = 3,
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
      for number in 0..<saves {
        try stack.root.performAndWait {
          stack.root.insert("Tag", ["name": "\(number)"])
          try stack.root.save()
        }
      }
      send(main, note)
    }
    while notes.withLock({ $0.count }) < saves + 1 { try await Task.sleep(nanoseconds: 1_000_000) }
    return notes.withLock { $0 }
  }

  @Test func `work queued to main runs after the earlier saves`() async throws {
    let order = try await order { _, note in DispatchQueue.main.async { note("other") } }
    #expect(order == ["merge", "merge", "merge", "other"])
  }

  @Test func `a main queue far behind still waits for some earlier saves`() async throws {
    let order = try await order(ofSaves: 20) { _, note in DispatchQueue.main.async { note("other") } }
    #expect(order.count == 21)
    #expect(order.firstIndex(of: "other") == 16)
  }

  @Test func `a block sent to the context comes after all saves before it`() async throws {
    let order = try await order { main, note in main.perform { note("block") } }
    #expect(order == ["merge", "merge", "merge", "block"])
  }
}
