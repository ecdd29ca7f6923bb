import Foundation
import Synchronization

/// What a soak has done and found, noted by all its threads.
final class SoakJournal: Sendable {
  private struct State {
    var step = 0
    var phase = 0
    var log: [String] = []
    var failures: [String] = []
  }

  private let _state = Mutex(State())

  /// The number of steps begun.
  var step: Int { _state.withLock { $0.step } }
  /// The number of phases begun.
  var phaseCount: Int { _state.withLock { $0.phase } }
  /// The failures found; the soak stops at the first.
  var failures: [String] { _state.withLock { $0.failures } }
  /// Descriptions of the steps so far.
  var log: [String] { _state.withLock { $0.log } }

  func beginPhase() { _state.withLock { $0.phase += 1 } }

  func fail(_ message: String) { _state.withLock { $0.failures.append(message) } }

  func note(_ line: String) { _state.withLock { $0.log.append(line) } }

  /// Records a step; its description may only be known once it is done.
  func noteStep(_ line: () throws -> String) rethrows {
    let number = _state.withLock { state in
      state.step += 1
      return state.step
    }
    note("\(number) \(try line())")
  }

  /// Information for analysing a failure: its description, and the last steps.
  var report: String {
    _state.withLock { state in
      "step \(state.step): \(state.failures.prefix(6).joined(separator: "\n  "))\nlast steps:\n  "
        + state.log.suffix(60).joined(separator: "\n  ")
    }
  }
}

/// How the contexts of a soak run.
enum SoakMode: Sendable {
  /// One step after another.
  case inTurn
  /// One thread per context; the plan's seeds decide which one runs.
  case scheduled
  /// One thread per context, scheduled by the system.
  case free

  /// Runs blocks, each on a thread of its own, until all have returned, and with a schedule also those that
  /// they enqueue.
  ///
  /// - Returns: Why no thread could continue; nil if all finished.
  func run(_ blocks: [@Sendable () -> Void], seed: UInt64) -> String? {
    guard self == .free else {
      let schedule = BatonSchedule(seed: seed)
      schedule.run(blocks)
      return schedule.deadlock
    }
    let group = DispatchGroup()
    for block in blocks {
      group.enter()
      let thread = Thread {
        block()
        group.leave()
      }
      thread.stackSize = 4 << 20
      thread.start()
    }
    group.wait()
    return nil
  }
}
