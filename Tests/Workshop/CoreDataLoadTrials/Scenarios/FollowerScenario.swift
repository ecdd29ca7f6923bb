import CoreData
import CoreDataStacks
import CoreDataStackShootout
import Foundation
import MainThreadWatch
import Synchronization

/// A history follower merges into main what others save: a context of the same coordinator, and one of
/// another.
final class FollowerScenario: LoadScenario {
  let screen: any Screen
  let contexts = 2
  private let _follower: FollowedHistory
  private let _savers: [ItemSaver]
  private let _other: NSPersistentStoreCoordinator
  private let _tally: Tally

  init(_ store: LoadStore, _ instruments: Instruments) throws {
    let coordinator = try store.coordinator(isFollowed: true, instruments)
    _other = try store.coordinator(isFollowed: true, instruments)
    _tally = instruments.tally
    let tracks = try (0..<2).map { _ in Track(try CommitLog()) }
    for track in tracks { instruments.ages.add(track) }
    _savers = try zip([coordinator, _other], tracks).enumerated().map { number, pair in
      try ItemSaver(pair.0, number: number, size: 10, of: 1000, pair.1, instruments)
    }
    let list = try ListScreen(FollowedHistory.context(of: coordinator), instruments)
    screen = list
    _follower = try FollowedHistory(list.main)
    for track in tracks { track.show(track.commits.last) }
  }

  func work(until deadline: UInt64) throws {
    let purging: @Sendable () throws -> Void = { [self] in try FollowedHistory.purge(_other, until: deadline)
    }
    try Workers.run(
      [purging]
        + _savers.map { saver in
          { [self] in
            while MonotonicClock.now < deadline {
              try saver.save()
              _tally.countOperation()
            }
          }
        })
  }

  func settle() throws {
    for saver in _savers { try saver.level() }
    try _follower.catchUp()
    try screen.settle()
  }
}

/// A follower of a store's history that does not lose its errors.
final class FollowedHistory: Sendable {
  private let _follower: HistoryFollower
  private let _failure: Failure

  private final class Failure: Sendable {
    let error = Mutex<(any Error)?>(nil)
  }

  init(_ main: NSManagedObjectContext) throws {
    let (follower, failure) = (try HistoryFollower(main), Failure())
    follower.onFailure = { error in failure.error.withLock { $0 = $0 ?? error } }
    (_follower, _failure) = (follower, failure)
  }

  /// A main-queue context of a coordinator, without automatic merging.
  static func context(of coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let main = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    main.persistentStoreCoordinator = coordinator
    return main
  }

  /// Returns once main shows all that was written. Not to be called on the main queue.
  ///
  /// - Throws: The follower's first error, also one from before.
  func catchUp() throws {
    try Awaited.value { [self] in try await _follower.catchUp() }
    if let error = _failure.error.withLock({ $0 }) { throw error }
  }

  /// Deletes what is older than five seconds from a store's history, each second until a time.
  static func purge(_ coordinator: NSPersistentStoreCoordinator, until deadline: UInt64) throws {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    while MonotonicClock.now + 1_000_000_000 < deadline {
      sleep(1)
      _ = try context.performAndWait {
        try context.execute(
          NSPersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceNow: -5)))
      }
    }
  }
}
