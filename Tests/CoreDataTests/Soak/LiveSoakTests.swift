import CoreData
import Testing

/// Short forms of the live soak; `Scripts/stress soak … live` runs the long one.
@Suite struct LiveSoakTests {
  private static let _steps = SoakRun.steps(short: 120)
  private static let _runs = SoakRun.all(short: Array(1...12), modes: [.inTurn, .scheduled])

  @Test(arguments: _runs)
  private func `lists and mirrors show what the store has`(_ run: SoakRun) throws {
    try run.test(.live(seed: run.seed, steps: Self._steps)) {
      try LiveSoak(run.setting, mode: run.mode, seed: run.seed)
    }
  }
}
