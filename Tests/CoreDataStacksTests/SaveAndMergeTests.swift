import CoreData
import CoreDataStacks
import Foundation
import Synchronization
import Testing

/// Eight workers save concurrently, round after round, below two lists on main. `COREDATA_ROUNDS` sets the
/// number of rounds; `Scripts/stress rounds` runs a thousand.
@Suite("Save and merge rounds", .serialized)
struct SaveAndMergeTests {
  private static let _rounds = ProcessInfo.processInfo.environment["COREDATA_ROUNDS"].flatMap(Int.init) ?? 12

  @Test(arguments: StackPattern.allCases)
  func `Main's lists equal a fresh fetch after every round`(
    _ pattern: StackPattern
  ) async throws {
    let directory = try StoreDirectory()
    let before = RoundObject.living.load(ordering: .relaxed)
    let traces = Traces()
    try await _run(pattern, directory.store, traces)
    for _ in 0..<500 where traces.living > 0 || RoundObject.living.load(ordering: .relaxed) > before {
      try await Task.sleep(nanoseconds: 10_000_000)
    }
    #expect(traces.living == 0, "of \(traces.count) contexts, coordinators and stacks")
    #expect(RoundObject.living.load(ordering: .relaxed) == before, "objects")
    #expect(traces.count >= 3)
  }

  private func _run(_ pattern: StackPattern, _ url: URL, _ traces: Traces) async throws {
    let stack = try await pattern.makeStack(model: RoundLedger.model(), at: .file(url))
    let main = stack.mainContext
    for object in [stack, main, stack.coordinator] as [AnyObject] { traces.note(object) }
    let auditor = try RoundAuditor(url)
    let lists = try await main.perform { try RoundLists(main) }
    // Half of the workers persist and must merge the saves of others; the other half are recreated.
    let kept = (0..<RoundLedger.workers / 2).map { _ in stack.newWorkerContext() }
    for worker in kept { traces.note(worker) }
    var ranks: [RoundLedger.Key: Int] = [:]
    for round in 0..<Self._rounds {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for worker in 0..<RoundLedger.workers {
          group.addTask {
            let context = worker < kept.count ? kept[worker] : stack.newWorkerContext()
            traces.note(context)
            try await context.perform { try RoundLedger.work(in: context, worker, round) }
            try await stack.save(context)
          }
        }
        try await group.waitForAll()
      }
      await stack.waitUntilIdle()
      for worker in 0..<RoundLedger.workers { RoundLedger.expect(&ranks, worker, round) }
      let expected = RoundLedger.lines(ranks)
      let stored = try await auditor.read()
      #expect(stored.lines == expected, "the file in round \(round)")
      #expect(stored.notes == expected.count, "notes in the file in round \(round)")
      try await main.perform {
        let fresh = try main.fetch(RoundLedger.entriesByName)
        #expect(fresh == lists.flat.fetchedObjects, "the list in round \(round)")
        #expect(lists.lines == expected, "values in the list in round \(round)")
        #expect(lists.teams == lists.expectedTeams(fresh), "the sections in round \(round)")
        // As in Core Data, merged deletions stay pending until main saves; nothing else may.
        #expect(main.insertedObjects.isEmpty && main.updatedObjects.isEmpty)
        if round % 10 == 9 {
          try main.save()
          #expect(!main.hasChanges)
        }
      }
      // Reports a failure in round 3 without running to round 1000.
      guard stored.lines == expected else { return }
    }
  }
}

/// Two lists of all entries on a main context: one flat, one by teams. Created and used in its perform
/// blocks.
private final class RoundLists: @unchecked Sendable {
  // Unchecked: created and used only in the context's perform blocks.
  let flat: NSFetchedResultsController<RoundEntry>
  private let _byTeam: NSFetchedResultsController<RoundEntry>
  private let _delegate = Delegate()

  private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {}
  }

  init(_ context: NSManagedObjectContext) throws {
    flat = NSFetchedResultsController(
      fetchRequest: RoundLedger.entriesByName, managedObjectContext: context, sectionNameKeyPath: nil,
      cacheName: nil)
    let request = RoundLedger.entriesByName
    request.sortDescriptors = [
      NSSortDescriptor(key: "team", ascending: true), NSSortDescriptor(key: "rank", ascending: false),
      NSSortDescriptor(key: "name", ascending: true),
    ]
    _byTeam = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "team", cacheName: nil)
    for controller in [flat, _byTeam] {
      controller.delegate = _delegate
      try controller.performFetch()
    }
  }

  var lines: [RoundLedger.Line] {
    flat.fetchedObjects!.map { RoundLedger.Line(name: $0.name, rank: $0.rank, follows: $0.follows?.name) }
  }

  var teams: [String: [String]] {
    Dictionary(
      uniqueKeysWithValues: _byTeam.sections!.map { ($0.name, ($0.objects as! [RoundEntry]).map(\.name)) })
  }

  /// Returns the sections expected for these entries.
  func expectedTeams(_ entries: [RoundEntry]) -> [String: [String]] {
    Dictionary(grouping: entries) { $0.value(forKey: "team") as! String }
      .mapValues { team in team.sorted { ($1.rank, $0.name) < ($0.rank, $1.name) }.map(\.name) }
  }
}

/// Weak references to objects that must be deallocated in the end.
private final class Traces: @unchecked Sendable {
  // Unchecked: guarded by the lock, which the Thread Sanitizer understands.
  private struct Trace { weak var object: AnyObject? }

  private let _lock = NSLock()
  private var _traces: [ObjectIdentifier: Trace] = [:]
  private var _noted = 0

  func note(_ object: AnyObject) {
    let id = ObjectIdentifier(object)
    _lock.withLock {
      // The next context may be allocated at the same address.
      if _traces[id]?.object == nil { _noted += 1 }
      _traces[id] = Trace(object: object)
    }
  }

  /// The number of recorded objects.
  var count: Int { _lock.withLock { _noted } }

  /// The number of objects still alive.
  var living: Int { _lock.withLock { _traces.values.count { $0.object != nil } } }
}
