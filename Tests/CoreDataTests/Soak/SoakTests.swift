import CoreData
import Testing

/// Short forms of the soak; `Scripts/stress soak` runs the long one.
@Suite struct SoakTests {
  private static let _steps = SoakRun.steps(short: 600)

  private static let _runs =
    SoakRun.all(short: [1, 2], modes: [.inTurn, .scheduled])
    + (SoakRun.isWatched ? [] : _telling.map { SoakRun(seed: $0, mode: .scheduled, setting: .memory) })

  /// Seeds that have found a bug.
  private static let _telling: [UInt64] = [49, 68, 262, 268, 831]

  @Test(arguments: _runs)
  private func `random edits keep the graph whole`(_ run: SoakRun) throws {
    try run.test(SoakPlan(seed: run.seed, steps: Self._steps)) {
      try GraphSoak(run.setting, mode: run.mode)
    }
  }
}

@Suite struct SoakPlanTests {
  @Test(arguments: Setting.direct)
  func `the same plan gives the same steps at once`(setting: Setting) throws {
    func log() throws -> [String] {
      let soak = try GraphSoak(setting, mode: .scheduled)
      try soak.run(SoakPlan(seed: 7, steps: 200))
      return soak.journal.log
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
