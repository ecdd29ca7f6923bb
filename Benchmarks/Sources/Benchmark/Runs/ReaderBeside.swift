import Foundation
import Synchronization

/// A thread that asks the same kind of question over and over while something else is measured.
final class ReaderBeside: Sendable {
  private struct State {
    var milliseconds: [Double] = []
    var failure: (any Error)?
  }

  private let _state = Mutex(State())
  private let _isStopped = Atomic<Bool>(false)
  private let _isOver = DispatchSemaphore(value: 0)

  /// Begins to read, when it is ready to.
  ///
  /// - Parameter prepare: Opens what is needed, on the reader's thread; answers what asks once.
  init(_ prepare: @escaping @Sendable () throws -> (() throws -> Void)) {
    let isReady = DispatchSemaphore(value: 0)
    let thread = Thread { [self] in
      do {
        let ask = try prepare()
        isReady.signal()
        while !_isStopped.load(ordering: .relaxed) {
          let watch = Stopwatch()
          try watch.time(ask)
          _state.withLock { $0.milliseconds.append(watch.seconds * 1000) }
        }
      } catch {
        _state.withLock { $0.failure = error }
        isReady.signal()
      }
      _isOver.signal()
    }
    thread.stackSize = 8 << 20
    thread.start()
    isReady.wait()
  }

  /// Stops reading and tells how long the reads took.
  func finish() throws -> [String: Double] {
    _isStopped.store(true, ordering: .relaxed)
    _isOver.wait()
    let state = _state.withLock { $0 }
    if let failure = state.failure { throw failure }
    let sorted = state.milliseconds.sorted()
    guard let last = sorted.last else { return ["reads": 0] }
    func quantile(_ part: Double) -> Double {
      sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
    }
    return ["reads": Double(sorted.count), "p50_ms": quantile(0.5), "p99_ms": quantile(0.99), "max_ms": last]
  }
}
