import Foundation
import Synchronization

/// Samples how much processor time the main thread and all other threads use, a few hundred times a second.
final class LoadSampler: Sendable {
  /// Processor time used since the sample before.
  struct Sample: Sendable {
    let span: TimeSpan
    /// Nanoseconds, of the main thread.
    let main: UInt64
    /// Nanoseconds, of all other threads together; more than the span where they ran on several processors.
    let background: UInt64
  }

  private struct State {
    var isStopped = false
    var samples: [Sample] = []
  }

  private let _mainClock: clockid_t
  private let _state = Mutex(State())
  private let _hasEnded = DispatchSemaphore(value: 0)

  /// A sampler for this process. To be made on the main thread.
  init() {
    precondition(Thread.isMainThread)
    var clock = clockid_t()
    _mainClock = pthread_getcpuclockid(pthread_self(), &clock) == 0 ? clock : CLOCK_THREAD_CPUTIME_ID
  }

  /// Starts to sample, on a thread of its own.
  func start() {
    let thread = Thread { [self] in
      var last = _read()
      while !_state.withLock({ $0.isStopped }) {
        usleep(2000)
        last = _note(since: last)
      }
      _hasEnded.signal()
    }
    thread.name = "load sampler"
    thread.start()
  }

  /// Stops sampling.
  func stop() -> [Sample] {
    _state.withLock { $0.isStopped = true }
    _hasEnded.wait()
    return _state.withLock { $0.samples }
  }

  private struct Reading {
    let time: UInt64
    let main: UInt64
    let all: UInt64
  }

  private func _read() -> Reading {
    Reading(
      time: MonotonicClock.now, main: MonotonicClock.read(_mainClock),
      all: MonotonicClock.read(CLOCK_PROCESS_CPUTIME_ID))
  }

  private func _note(since last: Reading) -> Reading {
    let next = _read()
    // The clocks are read one after the other, so what they say need not add up to the last nanosecond.
    let main = next.main > last.main ? next.main - last.main : 0
    let all = next.all > last.all ? next.all - last.all : 0
    let sample = Sample(
      span: TimeSpan(begin: last.time, end: next.time), main: main, background: all > main ? all - main : 0)
    _state.withLock { $0.samples.append(sample) }
    return next
  }
}
