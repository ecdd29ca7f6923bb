import Foundation
import Testing

@testable import CoreDataStackShootout

/// Two builds that run in turn.
@Suite struct PairTests {
  private func _runs(_ totals: [Double]) -> [Subject: [RunMeasurement]] {
    [
      .stack(.shared): totals.map {
        RunMeasurement(
          totalSeconds: $0, processorSeconds: $0, peakMegabytes: 40, saves: 1, rows: 1, main: nil, list: nil,
          timeline: Timeline())
      }
    ]
  }

  private func _compared(_ mine: [Double], _ theirs: [Double], _ limits: [RunLimit] = []) -> PairComparison {
    PairComparison(_runs(mine), with: _runs(theirs), [.shared], limits)
  }

  @Test func `what both builds have in common in a run is no difference`() {
    // The machine was slow in the second run, for both.
    let pairs = _compared([1, 3, 1.01, 0.99], [1.01, 3, 1, 1])
    #expect(
      pairs.lines[0].hasPrefix("shared: total 1.005 s, 1.005 s of the other build: equal"), "\(pairs.lines)")
  }

  @Test func `a growth beyond its limit is told with its error`() {
    let limit = RunLimit(figure: .total, bound: .growth(0.05))
    let pairs = _compared([1.1, 1.11, 1.1, 1.1], [1, 1, 1, 1], [limit])
    #expect(
      pairs.excesses == [
        "shared: total 1.100 s, 1.000 s of the other build: +10.0 % (give or take 0.6 %), at most +5.0 %"
      ])
    #expect(pairs.lines[0].hasPrefix("beyond its limit: ") && pairs.runsNeeded == nil)
    #expect(_compared([1.04, 1.04], [1, 1], [limit]).excesses.isEmpty)
  }

  @Test func `the runs that a limit takes are told`() {
    let pairs = _compared(
      [1, 1.2, 0.9, 1.1], [1, 1, 1, 1], [RunLimit(figure: .total, bound: .growth(0.01))])
    #expect((pairs.runsNeeded ?? 0) > 100)
  }

  @Test func `the tool runs another build, and what older builds do not know is no obstacle`() throws {
    let outcome = try ToolProcess.run([
      "shootout", "--objects", "50", "--runs", "2", "--stacks", "shared", "--against", ToolProcess.executable,
      "--limit", "total=+100000%",
    ])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.output.contains("of the other build"))
    let whole = try JSONEncoder().encode(_runs([1])[.stack(.shared)]![0])
    var members = try #require(try JSONSerialization.jsonObject(with: whole) as? [String: Any])
    for newer in ["screens", "advice", "replay"] { members[newer] = nil }
    let old = try JSONSerialization.data(withJSONObject: members)
    #expect(try JSONDecoder().decode(RunMeasurement.self, from: old).screens.isEmpty)
  }

  @Test(arguments: [
    (["--against", "/no/such"], 66, "'/no/such' is no program"),
    (["--against", "x", "--compare", "y"], 64, "'--against' and '--compare' cannot be given together"),
  ])
  func `a build that is none is answered`(_ words: [String], _ code: Int32, _ message: String) throws {
    let outcome = try ToolProcess.run(["shootout", "--objects", "5"] + words)
    #expect(outcome.code == code && outcome.error.contains(message), "\(outcome.error)")
  }
}
