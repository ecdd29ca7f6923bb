import Foundation

/// Measures the import without Core Data, in this process.
struct FloorRun {
  let job: WorkerJob
  let place: any StorePlace
  /// Called after each commit with the number of imported lines.
  let progress: @Sendable (Int) -> Void

  /// Imports, measures and checks. Call it on the main thread, which does the work.
  func measure() throws -> RunMeasurement {
    let feed = try StopReader.read(path: job.feedPath)
    let store = try place.store(named: job.storeName)
    let floor = try place.makeFloor(on: store)
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
    let rows = try StoreCheck(stops: feed.stops, mode: job.mode).run(place.stops(in: store))
    return RunMeasurement(
      totalSeconds: Double(window.nanoseconds) / 1e9, processorSeconds: Double(processor) / 1e9,
      peakMegabytes: peak, saves: saves, rows: rows, main: nil, list: nil,
      timeline: Timeline(window: window, spans: [], samples: [], saves: commits))
  }
}
