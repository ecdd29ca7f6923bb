import CoreDataStackShootout
import Foundation
import Synchronization

/// What a scenario reports to.
final class Instruments: Sendable {
  let blocks = BlockMeter()
  let ages = AgeMeter()
  let reads = ReadMeter()
  let contexts = Census()
  let tally = Tally()
  let caches = Caches()
  private let _mostObjects = Atomic<Int>(0)

  /// The highest number of objects in memory that was counted.
  var mostObjects: Int { _mostObjects.load(ordering: .relaxed) }

  /// Measures what only now can be measured: ages, and how many contexts and objects are alive.
  func sample() {
    ages.sample()
    contexts.count()
    _mostObjects.max(LoadItem.liveCount, ordering: .relaxed)
  }
}

/// Counts what a scenario has done.
final class Tally: Sendable {
  private let _operations = Atomic<Int>(0)
  private let _saves = Atomic<Int>(0)
  private let _conflicts = Atomic<Int>(0)

  /// Counts one of the scenario's operations.
  func countOperation() { _operations.add(1, ordering: .relaxed) }
  /// Counts a save into the stores.
  func countSave() { _saves.add(1, ordering: .relaxed) }
  /// Counts saves into the stores.
  func countSaves(_ count: Int) { _saves.add(count, ordering: .relaxed) }
  /// Counts a save that was refused because of a conflict, and is tried again.
  func countConflict() { _conflicts.add(1, ordering: .relaxed) }

  var operations: Int { _operations.load(ordering: .relaxed) }
  var saves: Int { _saves.load(ordering: .relaxed) }
  var conflicts: Int { _conflicts.load(ordering: .relaxed) }
}

/// Samples ages, live contexts and objects two hundred times a second while work is done.
final class Sampler: Sendable {
  private let _isStopped = Atomic<Bool>(false)
  private let _hasEnded = DispatchSemaphore(value: 0)

  /// Begins, on a thread of its own.
  init(_ instruments: Instruments) {
    let thread = Thread { [self] in
      while !_isStopped.load(ordering: .acquiring) {
        instruments.sample()
        usleep(5000)
      }
      _hasEnded.signal()
    }
    thread.name = "sampler"
    thread.start()
  }

  func stop() {
    _isStopped.store(true, ordering: .releasing)
    _hasEnded.wait()
  }
}
