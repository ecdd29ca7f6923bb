import CoreData
import Foundation
import Testing

@testable import CoreDataStacks

@Suite("Merges take turns")
struct TurnsTests {
  @Test func `Other work on the queue runs between two pieces`() async {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    let (turns, log) = (Turns(), Log())
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      // From inside a block, so that nothing runs before all blocks are enqueued.
      context.perform {
        for number in 1...3 {
          turns.add(on: context) {
            log.add("\(number)")
            if number == 3 { done.resume() }
          }
        }
        context.perform { log.add("other") }
      }
    }
    #expect(log.lines == ["1", "other", "2", "3"])
  }

  @Test func `A line that has become empty takes new work`() async {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    let turns = Turns()
    for _ in 0..<3 {
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        turns.add(on: context) { done.resume() }
      }
    }
  }
}
