import CoreData
import CoreDataStack
import Foundation
import Testing

/// Eight workers save at once, round after round, under a list on main. `COREDATA_ROUNDS=1000` runs the long form.
@Suite("Save and merge rounds")
struct SaveAndMergeTests {
  private static let _rounds = ProcessInfo.processInfo.environment["COREDATA_ROUNDS"].flatMap(Int.init) ?? 12
  private static let _workers = 8

  @Test("Nothing is lost or doubled, and main's list equals a fresh fetch after every round", arguments: StackPattern.allCases)
  func rounds(_ pattern: StackPattern) async throws {
    let directory = try StoreDirectory()
    var stack: (any ContextStack)? = try await pattern.makeStack(
      model: SampleBooks.model(), at: .file(directory.store))
    weak let gone = stack
    var expected: [String: Int] = [:]
    do {
      let stack = try #require(stack)
      let main = stack.mainContext
      let list = try await main.perform { try AuthorList(main) }
      for round in 0..<Self._rounds {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for worker in 0..<Self._workers {
            group.addTask {
              _ = try await stack.performWork { try Self._work(in: $0, worker, round) }
            }
          }
          try await group.waitForAll()
        }
        await stack.settle()
        for worker in 0..<Self._workers { Self._expect(&expected, worker, round) }
        let want = expected
        try await main.perform {
          let isFresh = try list.equalsFreshFetch()
          #expect(isFresh, "round \(round)")
          let shown = list.controller.fetchedObjects!.map { ($0.name!, ($0.value(forKey: "rank") as! NSNumber).intValue) }
          #expect(shown.count == want.count, "round \(round)")
          #expect(shown.allSatisfy { want[$0.0] == $0.1 }, "round \(round)")
          #expect(shown.map(\.0) == shown.map(\.0).sorted())
        }
      }
    }
    #expect(try directory.storedNames() == expected.keys.sorted())
    stack = nil
    for _ in 0..<200 where gone != nil { try await Task.sleep(nanoseconds: 10_000_000) }
    #expect(gone == nil)
  }

  /// A worker inserts one author a round, raises the rank of the one before, and deletes the one three rounds back.
  private static func _work(in context: NSManagedObjectContext, _ worker: Int, _ round: Int) throws {
    let new = Author(managedObjectContext: context)
    new.name = _name(worker, round)
    new.setValue(0, forKey: "rank")
    func find(_ round: Int) throws -> Author? {
      try Author.findFirstInContext(context, predicate: NSPredicate(format: "name == %@", _name(worker, round)))
    }
    if round >= 1 { try #require(try find(round - 1)).setValue(round, forKey: "rank") }
    if round >= 3, round % 2 == 1 { context.delete(try #require(try find(round - 3))) }
  }

  private static func _expect(_ names: inout [String: Int], _ worker: Int, _ round: Int) {
    names[_name(worker, round)] = 0
    if round >= 1 { names[_name(worker, round - 1)] = round }
    if round >= 3, round % 2 == 1 { names[_name(worker, round - 3)] = nil }
  }

  private static func _name(_ worker: Int, _ round: Int) -> String { String(format: "%02d-%05d", worker, round) }
}
