import CoreData
import Foundation
import MainThreadWatch

/// Measures the import without Core Data, in this process.
struct FloorRun {
  let job: WorkerJob
  let place: any StorePlace
  /// Called after each commit with the number of imported lines.
  let progress: @Sendable (Int) -> Void

  /// Imports, measures and checks. Call it on the main thread, which does the work.
  func measure() throws -> RunMeasurement {
    let work = try job.makeWork()
    let store = try place.store(named: job.storeName)
    let floor = try work.makeFloor(on: store, in: place)
    var commits: [UInt64] = []
    let begin = MonotonicClock.now
    let processorBegin = MonotonicClock.read(CLOCK_PROCESS_CPUTIME_ID)
    let saves = try floor.run(mode: job.mode, saveEvery: job.saveEvery) { count in
      commits.append(MonotonicClock.now)
      progress(count)
    }
    let window = TimeSpan(begin: begin, end: MonotonicClock.now)
    let processor = MonotonicClock.read(CLOCK_PROCESS_CPUTIME_ID) - processorBegin
    let peak = PeakMemory.megabytes
    floor.close()
    let checked = try work.check(store, in: place, mode: job.mode)
    var measurement = RunMeasurement(
      totalSeconds: Double(window.nanoseconds) / 1e9, processorSeconds: Double(processor) / 1e9,
      peakMegabytes: peak, saves: saves, rows: checked.rows, digest: checked.digest, main: nil, list: nil,
      timeline: Timeline(window: window, spans: [], samples: [], saves: commits))
    // A server's rows are read through its own library, which this target does not have.
    if !job.screens.isEmpty, store.type == NSSQLiteStoreType {
      let run = try ScreenRun(job.screens, work)
      let screens = try work.storeForScreens(store, in: place)
      defer { if screens.url != store.url { try? place.remove(screens) } }
      measurement.screens = try ScreenFloor(run: run, store: screens).figures()
      if job.triesChanges {
        measurement.advice = try ScreenTrial(run: run, store: screens, place: place).advice()
      }
    }
    return measurement
  }
}
