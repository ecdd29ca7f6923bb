import CoreData
import Foundation
import Testing

/// Short forms of the soak; `Scripts/soak` runs the long one.
@Suite struct SoakTests {
  private static let _environment = ProcessInfo.processInfo.environment
  private static let _steps: Int = _environment["SOAK_STEPS"].flatMap { Int($0) } ?? 600
  private static let _seeds: [UInt64] = _environment["SOAK_SEEDS"].map(seeds(in:)) ?? [1, 2]
  /// Whether the contexts of a crowd work at the same time.
  private static let _isConcurrent = _environment["SOAK_AT_ONCE"] != nil
  /// Whether somebody looks on.
  private static let _isWatched = _environment["SOAK_SEEDS"] != nil

  /// Seeds as the script is given them: `3`, `1-20`, `1,4,7-9`.
  private static func seeds(in text: String) -> [UInt64] {
    text.split(separator: ",").flatMap { part -> [UInt64] in
      let ends = part.split(separator: "-").compactMap { UInt64($0) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }
  }

  @Test(arguments: _seeds, Setting.direct)
  func randomEditsKeepTheGraphWhole(_ seed: UInt64, _ setting: Setting) throws {
    let soak = try GraphSoak(setting, seed: seed, isConcurrent: Self._isConcurrent)
    let start = Date()
    func say(_ text: String) {
      guard Self._isWatched else { return }
      let seconds = Int(Date().timeIntervalSince(start))
      try? FileHandle.standardError.write(
        contentsOf: Data("seed \(seed), \(setting): \(text) (\(seconds) s)\n".utf8))
    }
    try soak.run(steps: Self._steps) { say("\($0) of \(Self._steps) steps") }
    say(soak.failures.isEmpty ? "passed" : "FAILED at step \(soak.step)")
    #expect(soak.failures.isEmpty, "\(soak.report)")
  }
}
