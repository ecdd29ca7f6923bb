import Foundation
import Testing

@testable import CoreData

/// Blocks on the queue of a context that has been released: a sweep, or the turn after a discard, does not
/// keep it.
@Suite struct QueueLifetimeTests {
  @Test func `a block that outlives its context does not reach it`() {
    for _ in 0..<30_000 {
      var context: NSManagedObjectContext? = NSManagedObjectContext(.privateQueue)
      let queue = context!.queue
      for _ in 0..<4 { queue.async {} }
      context = nil
      queue.sync {}
      #expect(queue.context == nil)
    }
  }

  /// A context that the coordinator asks whether it merges.
  private final class AskedContext: NSManagedObjectContext, @unchecked Sendable {
    // Unchecked: `asked` is set before the save that reads it, on the same thread.
    var asked: (() -> Void)?

    override var automaticallyMergesChangesFromParent: Bool {
      get {
        asked?()
        return super.automaticallyMergesChangesFromParent
      }
      set { super.automaticallyMergesChangesFromParent = newValue }
    }
  }

  @Test(arguments: Setting.direct)
  func `a save that is sent to one context keeps no other one`(_ setting: Setting) throws {
    let stack = try TestStack(setting)
    let asked = AskedContext(concurrencyType: .privateQueueConcurrencyType)
    asked.persistentStoreCoordinator = stack.coordinator
    asked.automaticallyMergesChangesFromParent = true
    var other: NSManagedObjectContext? = stack.sibling()
    other?.automaticallyMergesChangesFromParent = true
    let reference = WeakReference(other)
    var wasGone = false
    asked.asked = {
      other = nil
      wasGone = reference.object == nil
    }
    _ = try stack.stored("Author")
    #expect(wasGone)
  }
}
