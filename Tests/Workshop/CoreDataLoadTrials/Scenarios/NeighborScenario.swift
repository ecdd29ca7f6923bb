import CoreData
import CoreDataStackShootout
import CoreDataToolKit
import Foundation
import MainThreadWatch

/// A second process saves into the same file without pause. Here a follower merges that into the list on
/// main, and two threads read in a new context again and again what the other process has saved.
final class NeighborScenario: LoadScenario {
  let screen: any Screen
  let contexts = 2
  private let _coordinator: NSPersistentStoreCoordinator
  private let _follower: FollowedHistory
  private let _track: Track
  private let _neighbor: Neighbor
  private let _instruments: Instruments
  /// The item that each save of the other process changes.
  private let _beacon: NSManagedObjectID

  init(_ store: LoadStore, _ instruments: Instruments) throws {
    _neighbor = Neighbor(store: store.url)
    _coordinator = try store.coordinator(isFollowed: true, instruments)
    _instruments = instruments
    _track = Track(try CommitLog(_neighbor.commits))
    instruments.ages.add(_track)
    _beacon = try ItemSaver(_coordinator, number: 0, size: 10, of: 2000, _track, instruments).beacon()
    let list = try ListScreen(FollowedHistory.context(of: _coordinator), instruments)
    screen = list
    _follower = try FollowedHistory(list.main)
    _track.show(_track.commits.last)
  }

  func work(until deadline: UInt64) throws {
    let reading: @Sendable () throws -> Void = { [self] in
      while MonotonicClock.now < deadline {
        try _read()
        _instruments.tally.countOperation()
      }
    }
    let writing: @Sendable () throws -> Void = { [self] in
      let before = _track.commits.last
      try _neighbor.run(until: deadline)
      _instruments.tally.countSaves(Int(_track.commits.last - before))
    }
    try Workers.run([writing] + Array(repeating: reading, count: contexts))
  }

  func settle() throws {
    try _follower.catchUp()
    try screen.settle()
  }

  /// Reads the beacon in a new context by one of three ways, which must have what was saved before.
  private func _read() throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = _coordinator
    _instruments.contexts.add(context)
    let known = _track.commits.last
    let revision = try context.performAndWait {
      switch known % 3 {
      case 0: return (context.object(with: _beacon) as? LoadItem)?.revision
      case 1: return (try context.existingObject(with: _beacon) as? LoadItem)?.revision
      default:
        let request = LoadItem.all()
        request.predicate = NSPredicate(format: "SELF == %@", _beacon)
        return try context.fetch(request).first?.revision
      }
    }
    let shown = UInt64(max(revision ?? 0, 0))
    _instruments.reads.record(staleFor: shown < known ? _track.commits.age(after: shown) : nil)
  }
}

/// The second process, which saves into a file that this process has filled.
struct Neighbor: Sendable {
  /// The command of this program that does it.
  static let command = "save-beside"
  let store: URL

  /// The file with the times of its saves.
  var commits: URL { store.appendingPathExtension("commits") }

  /// Runs it until a time, and waits for its end.
  ///
  /// - Throws: `ToolFailure` if it failed; it has said why on standard error.
  func run(until deadline: UInt64) throws {
    let process = Process()
    process.executableURL = ScenarioProcess.program
    process.arguments = [Self.command, store.path, "\(deadline)"]
    try process.run()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw ToolFailure(
        .internalError, "The second process ended with \(process.terminationStatus); see above.")
    }
  }

  /// Saves in this process until a time.
  func save(until deadline: UInt64) throws {
    let coordinator = try LoadStore(store).coordinator(isFollowed: true)
    let track = Track(try CommitLog(commits))
    let saver = try ItemSaver(coordinator, number: 0, size: 10, of: 2000, track, Instruments())
    try Workers.run([
      { while MonotonicClock.now < deadline { try saver.save() } },
      { try FollowedHistory.purge(coordinator, until: deadline) },
    ])
    try saver.level()
  }
}
