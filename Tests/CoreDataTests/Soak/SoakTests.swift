import CoreData
import Foundation
import Testing

/// Short forms of the soak; `Scripts/soak` runs the long one.
@Suite struct SoakTests {
  private static let _environment = ProcessInfo.processInfo.environment
  private static let _steps: Int = _environment["SOAK_STEPS"].flatMap { Int($0) } ?? 600
  private static let _seeds: [UInt64] =
    _environment["SOAK_SEED"].flatMap { UInt64($0) }.map { [$0] } ?? [1, 2]

  @Test(arguments: Setting.direct, _seeds)
  func randomEditsKeepTheGraphWhole(_ setting: Setting, _ seed: UInt64) throws {
    let soak = try GraphSoak(setting, seed: seed)
    try soak.run(steps: Self._steps)
    #expect(soak.failures.isEmpty, "\(soak.report)")
  }
}
