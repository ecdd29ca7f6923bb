import Foundation
import MainThreadWatch
import Synchronization

/// Samples how much processor time the main thread and all other threads use, a few hundred times a second.
///
/// Reads the clock of each thread: the process's own clock counts a thread that is running on another
/// processor only up to its last tick, milliseconds ago.
final class LoadSampler: Sendable {
  /// Processor time used since the sample before.
  struct Sample: Sendable {
    let span: TimeSpan
    /// Nanoseconds, of the main thread.
    let main: UInt64
    /// Nanoseconds of processor time of all other threads except the sampler's; more than the span if several
    /// processors were busy.
    let background: UInt64
  }

  private struct State {
    var isStopped = false
    var samples: [Sample] = []
  }

  private let _state = Mutex(State())
  private let _hasEnded = DispatchSemaphore(value: 0)

  /// Starts to sample, on a new thread.
  func start() {
    let hasBegun = DispatchSemaphore(value: 0)
    let thread = Thread { [self] in
      var last = Reading()
      hasBegun.signal()
      while !_state.withLock({ $0.isStopped }) {
        usleep(2000)
        let next = Reading()
        let sample = next.sample(since: last)
        _state.withLock { $0.samples.append(sample) }
        last = next
      }
      _hasEnded.signal()
    }
    thread.name = "load sampler"
    thread.start()
    hasBegun.wait()
  }

  /// Stops sampling.
  func stop() -> [Sample] {
    _state.withLock { $0.isStopped = true }
    _hasEnded.wait()
    return _state.withLock { $0.samples }
  }

  /// The clocks of all threads but the reading one at one time.
  private struct Reading {
    let time = MonotonicClock.now
    let used: [pid_t: UInt64]

    init() {
      var used: [pid_t: UInt64] = [:]
      var own = clockid_t()
      pthread_getcpuclockid(pthread_self(), &own)
      for thread in Self._threads {
        // Linux encodes a thread's scheduler clock like this; a thread that has just ended has none.
        let clock: clockid_t = ~thread << 3 | 6
        if clock != own { used[thread] = MonotonicClock.read(clock) }
      }
      self.used = used
    }

    func sample(since last: Reading) -> Sample {
      var main: UInt64 = 0
      var background: UInt64 = 0
      for (thread, now) in used {
        let before = last.used[thread] ?? 0
        let spent = now > before ? now - before : 0
        if thread == getpid() { main += spent } else { background += spent }
      }
      return Sample(span: TimeSpan(begin: last.time, end: time), main: main, background: background)
    }

    /// The process's threads; the ID of the main one is that of the process.
    private static var _threads: [pid_t] {
      guard let directory = opendir("/proc/self/task") else { return [] }
      defer { closedir(directory) }
      var threads: [pid_t] = []
      while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if let thread = pid_t(name) { threads.append(thread) }
      }
      return threads
    }
  }
}
