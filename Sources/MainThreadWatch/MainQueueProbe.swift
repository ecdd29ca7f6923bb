import Foundation

/// Asks the main queue a thousand times a second how long a block waits, where no run loop tells when main is awake: in a program
/// with an `async` main function, whose main queue any thread may serve.
final class MainQueueProbe: Sendable {
  private struct Answer {
    var asked: UInt64
    var begun: UInt64
    /// The thread that served the queue, and the processor time that it had used.
    var thread: Int
    var processor: UInt64
  }

  private struct State {
    var isStopped = false
    var hasStarted = false
    var answers: [Answer] = []
  }

  private let _state = Protected(State())
  private let _hasEnded = DispatchSemaphore(value: 0)

  /// Waits that are shorter say nothing: a block is not begun at once by an idle queue either.
  private static let _least: UInt64 = 500_000

  /// Starts asking on the current thread, until it is stopped.
  func run() {
    let isStopped = _state.withLock { state in
      state.hasStarted = !state.isStopped
      return state.isStopped
    }
    guard !isStopped else { return }
    let answered = DispatchSemaphore(value: 0)
    while !_state.withLock({ $0.isStopped }) {
      let asked = MonotonicClock.now
      DispatchQueue.main.async { [self] in
        let answer = Answer(
          asked: asked, begun: MonotonicClock.now, thread: pthread_self().hashValue,
          processor: MonotonicClock.read(CLOCK_THREAD_CPUTIME_ID))
        _state.withLock { $0.answers.append(answer) }
        answered.signal()
      }
      answered.wait()
      usleep(1000)
    }
    _hasEnded.signal()
  }

  /// Stops asking. Must not be called on main.
  ///
  /// - Returns: The spans in which main was taken, and its processor time; nil if it was not asked.
  func stop() -> (spans: [TimeSpan], processor: UInt64)? {
    let hasStarted = _state.withLock { state in
      state.isStopped = true
      return state.hasStarted
    }
    guard hasStarted else { return nil }
    _hasEnded.wait()
    let answers = _state.withLock { $0.answers }
    let spans = answers.filter { $0.begun > $0.asked + Self._least }.map {
      TimeSpan(begin: $0.asked, end: $0.begun)
    }
    let processor = zip(answers, answers.dropFirst()).reduce(0) { sum, pair in
      pair.0.thread == pair.1.thread && pair.1.processor > pair.0.processor
        ? sum + pair.1.processor - pair.0.processor : sum
    }
    return (spans, processor)
  }
}
