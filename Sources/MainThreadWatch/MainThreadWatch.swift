import Foundation

/// Measures what work costs the main thread: how long it is busy, in one piece and in all, and how long others wait for it.
///
/// For a program's own benchmarks of its own Core Data stack, or of anything else that uses the main queue. The figures are those
/// of `coredata shootout`.
///
/// ```swift
/// let watch = await MainThreadWatch.start()
/// try await importer.importAll()
/// let cost = await watch.stop()
/// print(cost)
/// if cost.longestMilliseconds > MainThreadFigures.frameMilliseconds { print("the list stutters") }
/// ```
///
/// The main queue must be served meanwhile: by a run loop, as in an application, or by whatever serves it in a program with an `async` main
/// function that waits, and in tests. Where no run loop tells when main is awake, the watch asks the queue a thousand times a
/// second: times are then exact to a millisecond, and the first fiftieth of a second is not seen. On Apple's platforms it is built from the
/// same source and has not been tried.
public final class MainThreadWatch: Sendable {
  private struct Begin {
    var time: UInt64
    var processor: UInt64
  }

  private let _recorder = MainThreadRecorder()
  private let _heartbeat = Heartbeat()
  private let _probe = MainQueueProbe()
  private let _begin: Protected<Begin>

  /// Begins to watch. What the main thread does is measured from here on.
  @MainActor public static func start() -> MainThreadWatch { MainThreadWatch() }

  @MainActor private init() {
    _begin = Protected(Begin(time: 0, processor: 0))
    _recorder.install()
    _heartbeat.start()
    _begin.withLock { begin in
      begin.time = MonotonicClock.now
      begin.processor = MonotonicClock.read(CLOCK_THREAD_CPUTIME_ID)
    }
    let thread = Thread { [_recorder, _probe] in
      // A run loop that serves heartbeats has told of them by then.
      usleep(50_000)
      if !_recorder.hasSeenLoop { _probe.run() }
    }
    thread.name = "main queue probe"
    thread.start()
  }

  /// Ends watching, and returns what the work has cost. To be called once.
  ///
  /// Waits until main has served its queue.
  public func stop() async -> MainThreadFigures {
    let (latencies, probed) = await withCheckedContinuation { continuation in
      // The beats that are under way run on main, which must not wait for them.
      DispatchQueue.global().async { [_heartbeat, _probe] in
        continuation.resume(returning: (_heartbeat.stop(), _probe.stop()))
      }
    }
    return await _figures(latencies, probed)
  }

  @MainActor private func _figures(
    _ latencies: [UInt64], _ probed: (spans: [TimeSpan], processor: UInt64)?
  ) -> MainThreadFigures {
    if let probed {
      _recorder.remove()
      return MainThreadFigures(
        spans: probed.spans, blocks: probed.spans, processorNanoseconds: probed.processor,
        latencies: latencies)
    }
    let begin = _begin.withLock { $0 }
    let window = TimeSpan(begin: begin.time, end: MonotonicClock.now)
    let processor = MonotonicClock.read(CLOCK_THREAD_CPUTIME_ID)
    defer { _recorder.remove() }
    let spans = _recorder.spans(within: window)
    return MainThreadFigures(
      spans: spans, blocks: _recorder.blocks(within: window),
      processorNanoseconds: processor > begin.processor ? processor - begin.processor : 0,
      latencies: latencies)
  }
}
