import CoreDataToolKit
import Testing

@testable import CoreDataLoadTrials

@Suite("Limits of load")
struct LoadLimitsTests {
  /// A result within all limits.
  private var _result: ScenarioResult {
    var result = ScenarioResult(scenario: .storm)
    result.seconds = 100
    result.operations = 100_000
    result.contexts = 4
    result.mostContexts = 8
    result.early = Holdings(contexts: 1, objects: 0, bytes: 10_000_000, descriptors: 20, threads: 10)
    result.late = result.early
    return result
  }

  private func _excesses(long isLong: Bool = false, _ change: (inout ScenarioResult) -> Void) -> [String] {
    var result = _result
    change(&result)
    return LoadLimits(isLong: isLong).excesses(of: result)
  }

  @Test(arguments: [false, true]) func `A good result exceeds none`(isLong: Bool) {
    #expect(_excesses(long: isLong) { _ in } == [])
  }

  @Test func `Too little work fails`() {
    #expect(_excesses { $0.operations = 3 } == ["storm: 0.0 requests a second are fewer than 10.0."])
  }

  @Test func `A context too many fails`() {
    #expect(_excesses { $0.mostContexts = 10 } == ["storm: 10 contexts are alive at once, more than 9."])
    #expect(_excesses { $0.late.contexts = 2 } == ["storm: 2 contexts stay, and 1 did at first."])
  }

  @Test func `Objects that pile up fail`() {
    #expect(_excesses { $0.mostObjects = 4000 } == [])
    #expect(
      _excesses { $0.mostObjects = 4001 } == ["storm: 4,001 objects are in memory at once, more than 4,000."])
  }

  @Test func `Memory may grow by 4 MB in a short run, by 2 % in a long one`() {
    #expect(_excesses { $0.late.bytes += 4_000_000 } == [])
    #expect(_excesses { $0.late.bytes += 4_000_001 }.count == 1)
    #expect(_excesses(long: true) { $0.late.bytes += 200_000 } == [])
    #expect(_excesses(long: true) { $0.late.bytes += 200_001 }.count == 1)
  }

  @Test func `Descriptors and threads that stay fail`() {
    #expect(_excesses { $0.late.descriptors = 29 } == ["storm: 29 descriptors are open, more than 28."])
    #expect(_excesses { $0.late.threads = 101 }.count == 1)
  }

  @Test func `A stale first read fails`() {
    let found = _excesses { $0.reads = ReadFigures(count: 2000, stale: 1, longest: 30_000_000) }
    #expect(found == ["storm: 1 of 2,000 first reads miss what was saved before, up to 0.03 s ago."])
  }

  @Test func `A difference fails with its sentence`() {
    #expect(_excesses { $0.differences = ["the list shows 1 row"] } == ["storm: the list shows 1 row."])
  }

  @Test func `Times of blocks have a limit in long runs only`() {
    func slow(_ result: inout ScenarioResult) { result.blocks.processor.p999 = LoadLimits.frame }
    #expect(_excesses(slow) == [])
    #expect(_excesses(long: true, slow).count == 1)
  }

  @Test func `A long time is divided into minutes`() {
    #expect(ScenarioRun.rounds(of: 9) == [3, 6])
    #expect(ScenarioRun.rounds(of: 150) == [60, 90])
    #expect(ScenarioRun.rounds(of: 3600).count == 60)
  }
}
