import CoreData
import Foundation
import MainThreadWatch
import Synchronization

/// Measures the import through one stack, in this process.
struct StackRun {
  let job: WorkerJob
  let design: StackDesign
  let place: any StorePlace
  /// Called after each save with the number of imported lines.
  let progress: @Sendable (Int) -> Void

  /// Imports, measures and checks. Call it on the main thread, which serves the main queue meanwhile.
  func measure() throws -> RunMeasurement {
    let work = try job.makeWork()
    let recorder = MainThreadRecorder()
    recorder.install()
    MainQueueTrace.record { block in recorder.record(begin: block.begin, end: block.end) }
    defer { MainQueueTrace.record(with: nil) }
    let load = LoadSampler()
    let loop = MainLoop()
    let outcome = BackgroundResult<RunMeasurement>()
    let thread = Thread {
      outcome.set(Result { try _measure(work, recorder, load) })
      loop.finish()
    }
    thread.name = "shootout"
    thread.start()
    loop.run()
    return try outcome.get()
  }

  private func _measure(
    _ work: any ImportWork, _ recorder: MainThreadRecorder, _ load: LoadSampler
  ) throws -> RunMeasurement {
    var store = try place.store(named: job.storeName)
    var keys: CopiedKeys?
    if let replay = work as? ReplayWork {
      keys = try replay.prepare(store)
      (store.ignoresVersion, store.tracksHistory) = (true, try replay.keepsHistory)
    }
    let stack = try design.makeStack(on: store, for: work, keepsLiveList: job.keepsLiveList)
    let list =
      try job.keepsLiveList ? stack.main.performAndWait { try LiveList(stack.main, work.listing) } : nil
    let heartbeat = Heartbeat()
    // Setting up may have left work on the main queue; it finishes before the measurement starts.
    DispatchQueue.main.sync {}
    load.start()
    heartbeat.start()
    let begin = MonotonicClock.now
    var saves: [UInt64] = []
    var replayed: ReplayFigures?
    do {
      if let replay = work as? ReplayWork {
        let run = ReplayRun(
          plan: replay.plan, layout: replay.layout, keys: keys, keepsPauses: job.replay?.keepsPauses ?? false)
        (saves, replayed) = try run.run(in: stack, progress: progress)
      } else {
        saves = try ImportRun(work: work, mode: job.mode, saveEvery: job.saveEvery).run(
          in: stack, progress: progress)
      }
      try stack.drain()
    } catch {
      _ = heartbeat.stop()
      _ = load.stop()
      throw error
    }
    let window = TimeSpan(begin: begin, end: MonotonicClock.now)
    let samples = load.stop()
    let latencies = heartbeat.stop()
    let spans = recorder.spans(within: window)
    let blocks = recorder.blocks(within: window)
    let peak = PeakMemory.megabytes
    let listFigures = try list.map { list in try stack.main.performAndWait { try list.check() } }
    let seen = try stack.main.performAndWait {
      try stack.main.count(for: NSFetchRequest<NSManagedObject>(entityName: work.listing.entity))
    }
    try stack.close()
    let checked = try work.check(store, in: place, mode: job.mode)
    guard replayed != nil || seen == checked.rows else {
      throw StoreCheck.Failure(
        description: "the main context sees \(seen) objects where the store holds \(checked.rows)")
    }
    let screens = try _screens(work, store)
    return RunMeasurement(
      totalSeconds: Double(window.nanoseconds) / 1e9,
      processorSeconds: Double(samples.reduce(0) { $0 + $1.main + $1.background }) / 1e9, peakMegabytes: peak,
      saves: saves.count, rows: checked.rows, digest: checked.digest,
      main: MainThreadFigures(
        spans: spans, blocks: blocks, processorNanoseconds: samples.reduce(0) { $0 + $1.main },
        latencies: latencies),
      list: listFigures, replay: replayed, screens: screens,
      timeline: Timeline(window: window, spans: spans, blocks: blocks, samples: samples, saves: saves))
  }

  /// Opens the screens: in new stacks, and beside an import into a store of its own.
  private func _screens(_ work: any ImportWork, _ store: ImportStore) throws -> [ScreenFigures] {
    guard !job.screens.isEmpty else { return [] }
    let run = try ScreenRun(job.screens, work)
    var figures = try run.figures(design, on: store)
    let beside = try place.store(named: job.storeNameBeside)
    defer { try? place.remove(beside) }
    let waits = try run.besideImport(design, on: beside, job.mode, saveEvery: job.saveEvery)
    for (index, waits) in waits.enumerated() { figures[index].busyMilliseconds = waits }
    return figures
  }
}
