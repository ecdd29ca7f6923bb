import CoreData
import CoreDataStackShootout
import CoreDataToolKit
import Foundation
import MainThreadWatch
import Synchronization

/// One scenario in this process.
struct ScenarioRun: Sendable {
  let scenario: ScenarioName
  let seconds: Int
  let store: LoadStore
  /// Receives a line about each round.
  let progress: @Sendable (String) -> Void

  /// Runs the scenario. To be called on the main thread, which serves the main queue meanwhile.
  func measure() throws -> ScenarioResult {
    Live.prepare()
    let loop = MainLoop()
    let outcome = Outcome()
    let thread = Thread {
      outcome.result.withLock { $0 = Result { try _measure() } }
      loop.finish()
    }
    thread.name = "scenario"
    thread.start()
    loop.run()
    guard let result = outcome.result.withLock({ $0 }) else {
      throw ToolFailure(.internalError, "'\(scenario.rawValue)' ended without a result.")
    }
    return try result.get()
  }

  private final class Outcome: Sendable {
    let result = Mutex<Result<ScenarioResult, any Error>?>(nil)
  }

  private func _measure() throws -> ScenarioResult {
    let instruments = Instruments()
    let work = try scenario.make(on: store, instruments)
    var result = ScenarioResult(scenario: scenario)
    let beat = Beat(work.screen)
    beat.start()
    for (number, length) in Self.rounds(of: seconds).enumerated() {
      let begin = MonotonicClock.now
      instruments.blocks.resume()
      let sampler = Sampler(instruments)
      try work.work(until: begin + UInt64(length * 1e9))
      sampler.stop()
      instruments.blocks.pause()
      result.seconds += Double(MonotonicClock.now - begin) / 1e9
      try work.settle()
      result.differences += try work.screen.differences().map { "after \(Int(result.seconds)) s \($0)" }
      if seconds >= 120 { try Live.settleThreads() }
      result.late = try Self._holdings(instruments)
      if number == 0 { result.early = result.late }
      progress(
        "\(scenario.rawValue), after \(Int(result.seconds)) s: \(counted(instruments.tally.operations, "operation")), "
          + "\(result.late.bytes) bytes, \(counted(result.late.contexts, "context"))")
    }
    result.waits = beat.stop()
    result.operations = instruments.tally.operations
    result.saves = instruments.tally.saves
    result.conflicts = instruments.tally.conflicts
    result.blocks = instruments.blocks.figures
    result.ages = instruments.ages.figures
    result.reads = instruments.reads.figures
    result.contexts = work.contexts
    result.mostContexts = instruments.contexts.most
    result.mostObjects = instruments.mostObjects
    return result
  }

  /// The lengths of the parts into which a time is divided, in seconds: the third of a short time and the
  /// rest, minutes of a long one.
  static func rounds(of seconds: Int) -> [Double] {
    guard seconds >= 120 else { return [Double(seconds) / 3, Double(seconds) * 2 / 3] }
    let minutes = seconds / 60
    return [Double](repeating: 60, count: minutes - 1) + [Double(60 + seconds % 60)]
  }

  private static func _holdings(_ instruments: Instruments) throws -> Holdings {
    instruments.contexts.sweep()
    instruments.caches.level()
    Live.settle()
    return Holdings(
      contexts: instruments.contexts.count(), objects: LoadItem.liveCount, bytes: Live.bytes,
      descriptors: try Live.descriptors(), threads: try Live.threads())
  }
}
