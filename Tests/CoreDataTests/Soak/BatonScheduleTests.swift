import Foundation
import Testing

@testable import CoreData

@Suite struct BatonScheduleTests {
  /// Increments a number in two steps with an interleaving point in between.
  private final class Counter: @unchecked Sendable {
    // Unchecked: used only by scheduled threads, which run one at a time.
    var value = 0

    func increment() {
      let read = value
      Interleaving.reach(.read)
      value = read + 1
    }
  }

  private func trace(seed: UInt64) -> [String] {
    let schedule = BatonSchedule(seed: seed)
    let counter = Counter()
    schedule.run((0..<4).map { _ in { for _ in 0..<5 { counter.increment() } } })
    return schedule.trace
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `the same seed gives the same interleaving`(seed: UInt64) {
    #expect(trace(seed: seed) == trace(seed: seed))
  }

  @Test func `some seed interleaves a read and a write of two threads`() {
    let isLost = (1...20).contains { (seed: UInt64) in
      let counter = Counter()
      BatonSchedule(seed: seed).run([{ counter.increment() }, { counter.increment() }])
      return counter.value == 1
    }
    #expect(isLost)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a resource is held by one thread at a time`(seed: UInt64) {
    let counter = Counter()
    BatonSchedule(seed: seed).run(
      (0..<4).map { _ in
        { for _ in 0..<3 { Interleaving.exclusively(counter) { counter.increment() } } }
      })
    #expect(counter.value == 12)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `one thread at a time stands in for the main thread`(seed: UInt64) {
    let counter = Counter()
    let contexts = (0..<4).map { _ in NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType) }
    BatonSchedule(seed: seed).run(
      contexts.map { context in
        { for _ in 0..<3 { context.performAndWait { counter.increment() } } }
      })
    #expect(counter.value == 12)
  }

  @Test(
    arguments: 1...20 as ClosedRange<UInt64>,
    [NSManagedObjectContext.ConcurrencyType.privateQueue, .mainQueue])
  func `blocks of a context run in the order they are enqueued`(
    seed: UInt64, type: NSManagedObjectContext.ConcurrencyType
  ) {
    let context = NSManagedObjectContext(type)
    nonisolated(unsafe) var order: [Int] = []
    BatonSchedule(seed: seed).run([
      {
        for number in 0..<4 { context.perform { order.append(number) } }
        context.performAndWait { order.append(4) }
      }
    ])
    #expect(order == [0, 1, 2, 3, 4])
  }

  @Test func `threads that wait for each other are reported`() {
    let found = (1...20).compactMap { (seed: UInt64) -> String? in
      let (left, right) = (Counter(), Counter())
      let schedule = BatonSchedule(seed: seed)
      schedule.run([
        { Interleaving.exclusively(left) { Interleaving.exclusively(right) {} } },
        { Interleaving.exclusively(right) { Interleaving.exclusively(left) {} } },
      ])
      return schedule.deadlock
    }
    #expect(!found.isEmpty)
  }
}
