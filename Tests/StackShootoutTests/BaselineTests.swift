import CoreDataToolKit
import Foundation
import MainThreadWatch
import Testing

@testable import CoreDataStackShootout

/// Results beside those of another time.
@Suite struct BaselineTests {
  private let _scratch: ScratchDirectory

  init() throws { _scratch = try ScratchDirectory() }

  private func _saved(_ edit: (String) -> String = { $0 }) throws -> Baseline {
    let path = _scratch.file("\(UUID().uuidString).json")
    try Data(edit(ResultDocument(sampleResult()).json.text()).utf8).write(to: URL(fileURLWithPath: path))
    return try Baseline(path: path)
  }

  private func _compare(_ baseline: Baseline?, _ limits: String...) throws -> BaselineComparison {
    try BaselineComparison(sampleResult(), with: baseline, limits.map { try RunLimit($0) })
  }

  @Test func `a result is within any growth of itself`() throws {
    let comparison = try BaselineComparison(sampleResult(), with: try _saved(), RunLimit.usual)
    #expect(comparison.excesses.isEmpty)
    #expect(comparison.lines.count == 4)
    #expect(
      comparison.lines[0]
        == "shared: total 2.00 of the floor, +0.0 % from 2.00 of the floor (at most +10.0 %)")
  }

  @Test func `a figure that has grown beyond its limit is an excess`() throws {
    let baseline = try _saved { $0.replacing("\"ratio_to_floor\": 2.000", with: "\"ratio_to_floor\": 1.600") }
    let comparison = try _compare(baseline, "total=+20%", "main=+20%")
    #expect(
      comparison.excesses.map { $0.prefix(20) }
        == ["shared: total 2.00 of", "nested3: total 2.00 o"].map { $0.prefix(20) })
    #expect(comparison.lines[0].hasPrefix("beyond its limit: shared: total 2.00 of the floor, +25.0 %"))
    #expect(try _compare(baseline, "total=+30%").excesses.isEmpty)
  }

  @Test func `values are limited without another result`() throws {
    let comparison = try _compare(nil, "longest=16.7ms", "peak=39MB", "total=2x")
    #expect(comparison.excesses.count == 3)
    #expect(comparison.excesses.contains { $0.hasPrefix("nested3: longest 20.0 ms, at most 16.7 ms") })
    #expect(comparison.excesses.filter { $0.contains("peak 40 MB, at most 39 MB") }.count == 2)
  }

  @Test func `runs that differ too much say how many are needed`() throws {
    // 0.6 over 0.5, 0.4 over 0.1 and 0.3 over 0.2.
    #expect(try _compare(_saved(), "total=+10%").runsNeeded ?? 0 > 3)
    #expect(try _compare(_saved(), "main=+10%").runsNeeded == nil)
    #expect(Statistics.relativeDeviation([1, 1, 1]) == 0)
    #expect(abs(Statistics.relativeDeviation([1, 2, 3]) - 0.5) < 1e-9)
  }

  @Test func `a design that the other result lacks is told, not judged`() throws {
    let baseline = try _saved { $0.replacing("\"id\": \"shared\"", with: "\"id\": \"gone\"") }
    let comparison = try _compare(baseline, "total=+0%")
    #expect(comparison.lines[0] == "shared: total 2.00 of the floor, not in the result to compare with")
  }

  @Test(arguments: [
    ("\"find-or-create\"", "\"bulk\"", "mode find-or-create instead of bulk"),
    ("\"stops\": 1000", "\"stops\": 10", "size"),
    ("\"saveEvery\": 250", "\"saveEvery\": 5", "lines between saves"),
    ("\"liveList\": false", "\"liveList\": true", "live list"),
  ])
  func `a result of other work is not compared with`(_ old: String, _ new: String, _ what: String) throws {
    let baseline = try _saved { $0.replacing(old, with: new) }
    let failure = #expect(throws: ToolFailure.self) { try _compare(baseline, "total=+10%") }
    #expect(failure?.code == .badInput)
    #expect(failure?.message.contains("is of other work: ") == true, "\(failure?.message ?? "")")
  }

  @Test(arguments: ["total", "total=10", "total=+10", "totals=+10%", "longest=3x", "peak=-1MB", "main=+x%"])
  func `a limit of another form is answered with the forms`(_ text: String) {
    let error = #expect(throws: UsageError.self) { try RunLimit(text) }
    #expect("\(error as Any)".contains("total=+10%"))
  }

  @Test func `the tool saves, compares, and fails beyond a limit`() throws {
    let saved = _scratch.file("base.json")
    let words = ["shootout", "--objects", "200", "--runs", "1", "--stacks", "shared"]
    let first = try ToolProcess.run(words + ["--save", saved])
    #expect(first.code == 0, "\(first.error)")
    let same = try ToolProcess.run(
      words + ["--compare", saved, "--limit", "total=+100000%", "--limit", "peak=1000MB"])
    #expect(same.code == 0, "\(same.error)")
    #expect(same.output.contains("shared: peak") && same.output.contains("shared: total"))
    let beyond = try ToolProcess.run(words + ["--limit", "peak=1MB"])
    #expect(beyond.code == 70)
    #expect(beyond.error.contains("Beyond the limit: shared: peak"), "\(beyond.error)")
    let other = try ToolProcess.run(words + ["--mode", "bulk", "--compare", saved])
    #expect(other.code == 65)
    let none = try ToolProcess.run(words + ["--limit", "total=+10%"])
    #expect(none.code == 64 && none.error.contains("needs '--compare FILE' as well"))
  }
}
