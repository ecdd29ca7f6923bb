import Foundation
import Testing

@testable import CoreData

/// Blocks on the queue of a context that has been released: a sweep, or the turn after a discard, does not keep it.
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
}
