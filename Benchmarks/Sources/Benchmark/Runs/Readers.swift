import Foundation
import Synchronization

/// Threads that ask the page questions between them, while a writer writes until they are through.
final class Readers: Sendable {
  /// Asks one question.
  typealias Ask = (_ question: (low: Int64, initial: UInt8), inout Check) throws -> Void

  private struct State {
    var check = Check()
    var written = 0
    var failure: (any Error)?
  }

  private let _count: Int
  private let _state = Mutex(State())
  private let _next = Atomic<Int>(0)
  private let _isOver = Atomic<Bool>(false)

  /// - Parameter count: How many threads read.
  init(count: Int) { _count = count }

  /// What all readers have found, and how many objects the writer wrote in a second meanwhile.
  ///
  /// - Parameters:
  ///   - prepare: Opens what a reader needs, on its thread, before the time starts.
  ///   - write: Writes on a thread of its own until its argument answers true; answers how many objects it wrote.
  func run(
    _ watch: Stopwatch, reading prepare: @escaping @Sendable () throws -> Ask,
    writing write: @escaping @Sendable (_ isOver: @escaping () -> Bool) throws -> Int
  ) throws -> (check: Check, figures: [String: Double]) {
    let questions = Array(PageQuestions())
    let isReady = DispatchSemaphore(value: 0)
    let mayBegin = DispatchSemaphore(value: 0)
    let hasEnded = DispatchSemaphore(value: 0)
    let writerHasEnded = DispatchSemaphore(value: 0)
    for _ in 0..<_count {
      _start {
        defer { hasEnded.signal() }
        var check = Check()
        let ask = self._attempt(prepare)
        isReady.signal()
        mayBegin.wait()
        guard let ask else { return }
        while true {
          let index = self._next.add(1, ordering: .relaxed).oldValue
          guard index < questions.count else { break }
          try ask(questions[index], &check)
        }
        self._state.withLock { state in
          state.check.rows += check.rows
          state.check.sum += check.sum
        }
      }
    }
    for _ in 0..<_count { isReady.wait() }
    _start {
      defer { writerHasEnded.signal() }
      let written = try write { self._isOver.load(ordering: .relaxed) }
      self._state.withLock { $0.written = written }
    }
    watch.resume()
    for _ in 0..<_count { mayBegin.signal() }
    for _ in 0..<_count { hasEnded.wait() }
    watch.pause()
    let seconds = watch.seconds
    _isOver.store(true, ordering: .relaxed)
    writerHasEnded.wait()
    let state = _state.withLock { $0 }
    if let failure = state.failure { throw failure }
    return (state.check, ["written_per_s": Double(state.written) / seconds])
  }

  /// What `body` answers; nil if it fails, which is kept.
  private func _attempt<Result>(_ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch {
      _state.withLock { $0.failure = error }
      return nil
    }
  }

  private func _start(_ body: @escaping @Sendable () throws -> Void) {
    let thread = Thread { [self] in _ = _attempt(body) }
    thread.stackSize = 8 << 20
    thread.start()
  }
}
