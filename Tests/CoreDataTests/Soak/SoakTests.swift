import CoreData
import Foundation
import Testing

/// Short forms of the soak; `Scripts/soak` runs the long one.
@Suite struct SoakTests {
  private static let _environment = ProcessInfo.processInfo.environment
  /// Whether the script runs the soak.
  private static let _isWatched = _environment["SOAK_SEEDS"] != nil
  private static let _steps: Int = _environment["SOAK_STEPS"].flatMap { Int($0) } ?? 600
  private static let _seeds: [UInt64] = _environment["SOAK_SEEDS"].map(seeds(in:)) ?? [1, 2]

  /// The modes: the one that the script requests, or in turn and scheduled.
  private static let _modes: [GraphSoak.Mode] =
    switch _environment["SOAK_MODE"] {
    case "in-turn": [.inTurn]
    case "at-once": [.scheduled]
    case "free": [.free]
    default: [.inTurn, .scheduled]
    }

  /// Parses seeds in the script's format: `3`, `1-20`, `1,4,7-9`.
  private static func seeds(in text: String) -> [UInt64] {
    text.split(separator: ",").flatMap { part -> [UInt64] in
      let ends = part.split(separator: "-").compactMap { UInt64($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }
  }

  private struct Run: Sendable, CustomTestStringConvertible {
    let seed: UInt64
    let mode: GraphSoak.Mode
    let setting: Setting
    var testDescription: String { "seed \(seed), \(mode), \(setting)" }
  }

  private static let _runs =
    _seeds.flatMap { seed in
      _modes.flatMap { mode in Setting.direct.map { Run(seed: seed, mode: mode, setting: $0) } }
    } + (_isWatched ? [] : _telling.map { Run(seed: $0, mode: .scheduled, setting: .memory) })

  /// Seeds that have found a bug.
  private static let _telling: [UInt64] = [49, 68, 262, 268, 831]

  @Test(arguments: _runs)
  private func `random edits keep the graph whole`(_ run: Run) throws {
    let soak = try GraphSoak(run.setting, mode: run.mode)
    let plan = SoakPlan(seed: run.seed, steps: Self._steps)
    let start = Date()
    func say(_ text: String) {
      guard Self._isWatched else { return }
      let seconds = Int(Date().timeIntervalSince(start))
      try? FileHandle.standardError.write(
        contentsOf: Data("\(run.testDescription): \(text) (\(seconds) s)\n".utf8))
    }
    try soak.run(plan) { say("\($0) of about \(Self._steps) steps") }
    guard !soak.failures.isEmpty else { return say("passed") }
    say("FAILED at step \(soak.step)")
    Issue.record("\(run.testDescription), \(soak.report)")
    // On free threads the same plan may pass the next time.
    guard run.mode != .free else { return }
    say("looking for fewer steps that fail ...")
    let short = try Self._minimised(plan.prefix(phases: soak.phaseCount), run)
    say("\(short.plan.stepCount) steps fail, too")
    Issue.record("\(run.testDescription), shortened to \(short.plan.stepCount) steps, \(short.report)")
  }

  /// Returns the shortest failing plan found, and its failure.
  private static func _minimised(_ plan: SoakPlan, _ run: Run) throws -> (plan: SoakPlan, report: String) {
    var report = ""
    let attempts = _environment["SOAK_ATTEMPTS"].flatMap { Int($0) } ?? 600
    let short = try plan.minimised(attempts: attempts) { candidate in
      let soak = try GraphSoak(run.setting, mode: run.mode)
      try soak.run(candidate)
      if !soak.failures.isEmpty { report = soak.report }
      return !soak.failures.isEmpty
    }
    return (short, report)
  }
}

@Suite struct SoakPlanTests {
  @Test(arguments: Setting.direct)
  func `the same plan gives the same steps at once`(setting: Setting) throws {
    func log() throws -> [String] {
      let soak = try GraphSoak(setting, mode: .scheduled)
      try soak.run(SoakPlan(seed: 7, steps: 200))
      return soak.log
    }
    #expect(try log() == log())
  }

  @Test func `a plan is shortened to the steps that fail`() {
    let plan = SoakPlan(seed: 1, steps: 400)
    let steps = plan.phases.flatMap(\.steps)
    let needed = [steps[17].serial, steps[140].serial, steps[141].serial]
    let short = plan.minimised(attempts: 2000) { candidate in
      Set(needed).isSubset(of: candidate.phases.flatMap(\.steps).map(\.serial))
    }
    #expect(short.phases.flatMap(\.steps).map(\.serial) == needed)
  }
}
