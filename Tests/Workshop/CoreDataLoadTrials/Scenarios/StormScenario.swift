import CoreData
import CoreDataStackShootout
import CoreDataToolKit
import Foundation
import MainThreadWatch
import Synchronization

/// Requests of a server: four threads make a context with automatic merging for each, fetch, edit, save, and
/// drop it. Meanwhile a list on main shows all rows.
final class StormScenario: LoadScenario {
  private static let _threads = 4
  private static let _rows = 2000
  let screen: any Screen
  let contexts = _threads
  private let _coordinator: NSPersistentStoreCoordinator
  private let _instruments: Instruments
  private let _ledger: Ledger
  private let _requests = Atomic<UInt64>(0)

  init(_ store: LoadStore, _ instruments: Instruments) throws {
    let coordinator = try store.coordinator(instruments)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    let ids = try context.performAndWait {
      let items = (0..<Self._rows).map { number in
        let item = LoadItem(context: context)
        item.identifier = Int64(number)
        item.name = "item \(number)"
        item.revision = 0
        return item
      }
      try context.save()
      return items.map(\.objectID)
    }
    _coordinator = coordinator
    _instruments = instruments
    _ledger = Ledger(ids)
    screen = try ListScreen(ListScreen.mergingContext(of: coordinator), instruments)
  }

  func work(until deadline: UInt64) throws {
    try Workers.repeat(Self._threads, until: deadline) { [self] _ in
      let request = Request(number: _requests.add(1, ordering: .relaxed).newValue, rows: Self._rows)
      // A conflict with another thread's request is an ordinary event; another attempt has a new context,
      // which must read what the other has saved.
      var attempts = 1
      while try !_serve(request) {
        _instruments.tally.countConflict()
        attempts += 1
        if attempts > 20 {
          throw ToolFailure(.internalError, "A request met a conflict in each of 20 attempts.")
        }
      }
      _instruments.tally.countOperation()
    }
  }

  /// What a request is to do.
  private struct Request: Sendable {
    /// Rows to edit.
    let rows: [Int]
    let adds: Bool
    let removes: Bool
    let name: String
    /// Whether a task awaits the context's block.
    let awaits: Bool

    init(number: UInt64, rows count: Int) {
      var dice = SeededRandom(seed: number)
      rows = (0...dice.below(3)).map { _ in dice.below(count) }
      // More requests remove a row than add one, as long as there are fifty added ones: their number stays.
      (adds, removes) = (dice.chance(20), dice.chance(40))
      name = String(dice.next(), radix: 36)
      awaits = dice.chance(50)
    }
  }

  /// Serves a request in a context of its own.
  ///
  /// - Returns: False after a conflict.
  private func _serve(_ request: Request) throws -> Bool {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = _coordinator
    context.automaticallyMergesChangesFromParent = true
    _instruments.contexts.add(context)
    let known = request.rows.map { _ledger.saved($0) }
    // Either way lets the context go before it returns.
    if request.awaits {
      return try Awaited.value { [self] in
        try await context.perform { [self] in try _edit(request, known, in: context) }
      }
    }
    return try context.performAndWait { try _edit(request, known, in: context) }
  }

  private func _edit(_ request: Request, _ known: [Ledger.Saved], in context: NSManagedObjectContext) throws
    -> Bool
  {
    let page = LoadItem.all()
    page.fetchLimit = 20
    _ = try context.fetch(page).map(\.name)
    var written: [(row: Int, revision: Int64)] = []
    for (row, known) in zip(request.rows, known) {
      guard let item = context.object(with: _ledger.id(row)) as? LoadItem else { continue }
      let isStale = item.revision < known.revision
      _instruments.reads.record(staleFor: isStale ? MonotonicClock.now - known.time : nil)
      item.name = request.name
      item.revision += 1
      written.append((row, item.revision))
    }
    var added: LoadItem?
    if request.adds {
      added = LoadItem(context: context)
      added?.name = request.name
      added?.revision = 0
    }
    let removed = request.removes ? _ledger.takeAddition() : nil
    if let removed { context.delete(context.object(with: removed)) }
    do {
      try context.save()
    } catch let error as CocoaError where error.code.rawValue == NSManagedObjectMergeError {
      if let removed { _ledger.add(removed) }
      return false
    }
    _instruments.tally.countSave()
    for (row, revision) in written { _ledger.save(row, revision) }
    if let added { _ledger.add(added.objectID) }
    return true
  }
}

/// What requests have saved, by row.
private final class Ledger: Sendable {
  /// The revision of a row that is known to be saved, and since when.
  struct Saved: Sendable {
    var revision: Int64 = 0
    var time: UInt64 = 0
  }

  private let _ids: [NSManagedObjectID]
  private let _saved: Mutex<[Saved]>
  /// Rows that requests have added and not yet removed.
  private let _added = Mutex<[NSManagedObjectID]>([])

  init(_ ids: [NSManagedObjectID]) {
    _ids = ids
    _saved = Mutex([Saved](repeating: Saved(), count: ids.count))
  }

  func id(_ row: Int) -> NSManagedObjectID { _ids[row] }

  func saved(_ row: Int) -> Saved { _saved.withLock { $0[row] } }

  func save(_ row: Int, _ revision: Int64) {
    let now = MonotonicClock.now
    _saved.withLock { if $0[row].revision < revision { $0[row] = Saved(revision: revision, time: now) } }
  }

  func add(_ id: NSManagedObjectID) { _added.withLock { $0.append(id) } }

  /// An added row, which the caller removes, once there are many.
  func takeAddition() -> NSManagedObjectID? { _added.withLock { $0.count < 50 ? nil : $0.removeFirst() } }
}
