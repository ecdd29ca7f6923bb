import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataLoadTrials

@Suite("Command line and reports of load")
struct LoadReportTests {
  private func _options(_ words: String...) throws -> LoadOptions {
    let request = try ArgumentScanner(CommandSyntax("tool", summary: "", subcommands: [LoadCommand.syntax]))
      .scan(["run"] + words)
    guard case .run(_, let arguments) = request else {
      throw UsageError.missingOperand("run", command: "tool")
    }
    return try LoadOptions(arguments)
  }

  @Test func `Without scenarios all run for a minute`() throws {
    let options = try _options()
    #expect(options.seconds == 60 && options.scenarios == ScenarioName.allCases)
  }

  @Test func `Any number of scenarios may be named, each once`() throws {
    let options = try _options("storm", "--seconds", "9", "live-list-10", "storm")
    #expect(options.seconds == 9 && options.scenarios == [.storm, .liveList10])
  }

  @Test func `An unknown scenario is refused, with the nearest one`() {
    let error = #expect(throws: UsageError.self) { try _options("strom") }
    #expect(error?.description.contains("storm") == true)
  }

  @Test func `A short run has its own time`() throws {
    #expect(try _options("--short").seconds == 4)
    #expect(throws: UsageError.conflict("--short", "--seconds")) { try _options("--short", "--seconds=9") }
  }

  private var _result: ScenarioResult {
    var result = ScenarioResult(scenario: .liveList100)
    result.seconds = 2
    result.saves = 300
    var histogram = Histogram()
    for value in 1...1000 as ClosedRange<UInt64> { histogram.add(value * 10_000) }
    result.blocks.processor = Quantiles(histogram)
    return result
  }

  @Test func `The table has a line for each scenario`() {
    let lines = LoadTable([_result]).text(usesColor: false).split(separator: "\n")
    #expect(lines.count == 3 && lines[2].hasPrefix("live-list-100") && lines[2].contains("150"))
  }

  @Test func `The document has the quantiles in milliseconds`() throws {
    let text = LoadDocument(results: [_result], date: Date(timeIntervalSince1970: 0)).json.text()
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    let scenario = try #require((object?["scenarios"] as? [[String: Any]])?.first)
    let blocks = try #require(scenario["main_block_cpu_ms"] as? [String: Any])
    #expect(scenario["id"] as? String == "live-list-100" && scenario["saves_per_s"] as? Double == 150)
    #expect(blocks["longest"] as? Double == 10 && blocks["count"] as? Int == 1000)
  }

  @Test func `The picture names each scenario and its longest block`() {
    let svg = LoadPicture([_result]).svg
    #expect(svg.hasPrefix("<svg ") && svg.contains("live-list-100") && svg.contains("the longest 10 ms"))
  }
}
