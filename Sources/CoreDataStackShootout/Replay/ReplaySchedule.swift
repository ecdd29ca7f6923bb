import Foundation
import MainThreadWatch
import Synchronization

/// Which steps of a replay have ended. May be used on any queue.
final class ReplaySchedule: Sendable {
  /// What is to be done before a step.
  enum Turn: Sendable { case goOn, drain, end }

  private struct State {
    var hasEnded: [Bool]
    /// The steps that have ended before one that has not, by rank.
    var prefix = 0
    var begun = 0
    var ended = 0
    /// The first save of each lane since the last time that the stack was drained, by rank.
    var saves: [Int: Int] = [:]
    var saveTimes: [UInt64] = []
    var figures = ReplayFigures()
    var error: (any Error)?
  }

  private let _condition = NSCondition()
  private let _state: Mutex<State>

  init(steps: Int) { _state = Mutex(State(hasEnded: [Bool](repeating: false, count: steps))) }

  /// Waits until the steps have ended that had ended before this one began.
  ///
  /// - Returns: To end after an error, and to drain the stack if another lane has saved something that this step had seen.
  func wait(for step: ReplayPlan.Step) -> Turn {
    _wait { $0.prefix >= step.after || $0.error != nil }
    return _state.withLock { state in
      guard state.error == nil else { return .end }
      state.begun += 1
      guard state.saves.contains(where: { $0.key != step.lane && $0.value < step.after }) else {
        return .goOn
      }
      state.saves = [:]
      return .drain
    }
  }

  /// Notes the end of a step, and returns how many there were.
  func didEnd(_ step: ReplayPlan.Step, _ saved: Result<Bool, any Error>) -> Int {
    _condition.lock()
    defer {
      _condition.broadcast()
      _condition.unlock()
    }
    return _state.withLock { state in
      switch saved {
      case .success(true):
        state.saves[step.lane] = min(step.rank, state.saves[step.lane] ?? step.rank)
        state.saveTimes.append(MonotonicClock.now)
      case .success(false): break
      case .failure(let error): if state.error == nil { state.error = error }
      }
      state.hasEnded[step.rank] = true
      while state.prefix < state.hasEnded.count, state.hasEnded[state.prefix] { state.prefix += 1 }
      state.ended += 1
      return state.ended
    }
  }

  func add(_ figures: ReplayFigures) { _state.withLock { $0.figures = $0.figures + figures } }

  /// Waits for all steps that have begun.
  ///
  /// - Throws: The first error.
  func result() throws -> (saves: [UInt64], figures: ReplayFigures) {
    _wait { $0.ended >= $0.begun }
    return try _state.withLock { state in
      if let error = state.error { throw error }
      return (state.saveTimes, state.figures)
    }
  }

  private func _wait(until isTrue: (borrowing State) -> Bool) {
    _condition.lock()
    defer { _condition.unlock() }
    while !_state.withLock({ isTrue($0) }) { _condition.wait() }
  }
}
