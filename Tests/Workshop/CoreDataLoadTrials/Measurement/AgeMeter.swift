import CoreDataStackShootout
import Foundation
import MainThreadWatch
import Synchronization

/// The saves of one saver, and which of them a screen shows.
final class Track: Sendable {
  let commits: CommitLog
  private let _shown = Atomic<UInt64>(0)

  init(_ commits: CommitLog) { self.commits = commits }

  /// Records that a screen shows a save, and so all before it.
  func show(_ number: UInt64) { _shown.max(number, ordering: .releasing) }

  /// How long the oldest save that no screen shows has been committed, in nanoseconds.
  func age(at time: UInt64) -> UInt64 { commits.age(after: _shown.load(ordering: .acquiring), at: time) }
}

/// The age of what a user sees: at times that nothing else determines, how long ago the oldest save was
/// committed that the screen does not show.
///
/// Never asked on the main queue, where a block may come after the merge that it waits for.
final class AgeMeter: Sendable {
  private struct State {
    var tracks: [Track] = []
    var ages = Histogram()
  }

  private let _state = Mutex(State())

  func add(_ track: Track) { _state.withLock { $0.tracks.append(track) } }

  /// The track of a number; tracks are numbered from 0 as they are added.
  func track(_ number: Int) -> Track? {
    _state.withLock { $0.tracks.indices.contains(number) ? $0.tracks[number] : nil }
  }

  /// Measures once.
  func sample() {
    let now = MonotonicClock.now
    _state.withLock { state in
      guard !state.tracks.isEmpty else { return }
      state.ages.add(state.tracks.reduce(0) { max($0, $1.age(at: now)) })
    }
  }

  var figures: Quantiles { _state.withLock { Quantiles($0.ages) } }
}

/// Reads of contexts that have just been created, which must have all that was committed before.
final class ReadMeter: Sendable {
  private struct State {
    var reads = 0
    var ages = Histogram()
  }

  private let _state = Mutex(State())

  /// Records a read.
  ///
  /// - Parameter age: How long ago the save was committed that the read should have had and has not; nil if
  ///   it had all.
  func record(staleFor age: UInt64?) {
    _state.withLock { state in
      state.reads += 1
      if let age { state.ages.add(age) }
    }
  }

  var figures: ReadFigures {
    _state.withLock { ReadFigures(count: $0.reads, stale: Int($0.ages.count), longest: $0.ages.longest) }
  }
}

/// Reads of new contexts.
package struct ReadFigures: Codable, Sendable, Equatable {
  package var count = 0
  /// Those that had not all that was committed before.
  package var stale = 0
  /// The greatest age of what one of them had not, in nanoseconds.
  package var longest: UInt64 = 0
}
