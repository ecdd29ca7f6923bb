import Foundation

/// Measures the import on SQLite's C API, in this process.
struct FloorRun {
  let job: WorkerJob
  /// Called after each commit with the number of imported lines.
  let progress: @Sendable (Int) -> Void

  /// Imports, measures and checks. Call it on the main thread, which does the work.
  func measure() throws -> RunMeasurement {
    let feed = try StopReader.read(path: job.feedPath)
    let floor = try SQLiteFloor(path: job.storePath)
    defer { floor.close() }
    var commits: [UInt64] = []
    let begin = MonotonicClock.now
    let processorBegin = MonotonicClock.read(CLOCK_PROCESS_CPUTIME_ID)
    let saves = try floor.run(feed.stops, mode: job.mode, saveEvery: job.saveEvery) { count in
      commits.append(MonotonicClock.now)
      progress(count)
    }
    let window = TimeSpan(begin: begin, end: MonotonicClock.now)
    let processor = MonotonicClock.read(CLOCK_PROCESS_CPUTIME_ID) - processorBegin
    let peak = PeakMemory.megabytes
    let rows = try StoreCheck(stops: feed.stops, mode: job.mode).run(path: job.storePath)
    return RunMeasurement(
      totalSeconds: Double(window.nanoseconds) / 1e9, processorSeconds: Double(processor) / 1e9,
      peakMegabytes: peak, saves: saves, rows: rows, main: nil, list: nil,
      timeline: Timeline(window: window, spans: [], samples: [], saves: commits))
  }
}
