import MainThreadWatch
import Testing

@testable import CoreDataStackShootout

/// Which design is recommended after measurements.
@Suite struct RecommendationTests {
  /// A result with totals over a floor of one second, and main's longest blocks.
  private func _recommendation(
    _ figures: [(design: StackDesign, totals: [Double], longest: Double)]
  ) -> Recommendation {
    var workload = Workload()
    workload.stacks = figures.map(\.design)
    workload.runs = figures[0].totals.count
    func run(_ total: Double, longest: Double?) -> RunMeasurement {
      RunMeasurement(
        totalSeconds: total, processorSeconds: total, peakMegabytes: 1, saves: 1, rows: 1,
        main: longest.map {
          let span = [TimeSpan(begin: 0, end: UInt64($0 * 1e6))]
          return MainThreadFigures(spans: span, blocks: span, processorNanoseconds: 1, latencies: [1])
        }, list: nil, timeline: Timeline())
    }
    var measurements: [Subject: [RunMeasurement]] = [
      .floor: figures[0].totals.map { _ in run(1, longest: nil) }
    ]
    for (design, totals, longest) in figures {
      measurements[.stack(design)] = totals.map { run($0, longest: longest) }
    }
    return Recommendation(
      ShootoutResult(workload: workload, sourceName: "x", lines: 1, measurements: measurements))
  }

  @Test func `a design that blocks main is not chosen though it is the fastest`() {
    let choice = _recommendation([
      (.main, [1, 1, 1], 900), (.shared, [2, 2, 2], 3), (.nested3, [3, 3, 3], 2),
    ])
    #expect(choice.choice == .shared)
    #expect(
      choice.sentence
        == "Choose shared: it never blocks main for a frame, as one of the others does; it is the fastest of those."
    )
  }

  @Test func `of designs that are as fast the simplest is chosen`() {
    let choice = _recommendation([
      (.nested3, [2, 2.02, 2.01], 1), (.shared, [2.03, 2, 2.05], 1), (.sharedStore, [2, 2, 2], 1),
    ])
    #expect(choice.choice == .shared)
    #expect(
      choice.sentence
        == "Choose shared: no design blocks main for a frame; of those as fast (also nested3, shared-store) it is the simplest."
    )
  }

  @Test func `totals that the runs do not tell apart are equal`() {
    let alike = _recommendation([(.nested3, [2, 3, 1.6], 1), (.shared, [2.3, 2.9, 1.9], 1)])
    #expect(alike.choice == .shared)
    #expect(
      alike.sentence
        == "Choose shared: no design blocks main for a frame; of those as fast (also nested3), as far as these runs tell, it is the "
        + "simplest.")
    #expect(
      _recommendation([(.nested3, [2, 2.01, 2], 1), (.shared, [2.3, 2.31, 2.3], 1)]).choice == .nested3)
  }

  @Test func `a design in which an import delays a screen for a frame is not chosen`() throws {
    func run(_ total: Double, _ longest: Double?, waits: [Double]) -> RunMeasurement {
      let span = [TimeSpan(begin: 0, end: UInt64((longest ?? 0) * 1e6))]
      let screen = ScreenFigures(
        name: "list", firstMilliseconds: 30, againMilliseconds: 28, busyMilliseconds: waits,
        longestMilliseconds: 30,
        totalMilliseconds: 30, statements: 1, faults: 0, found: 1, order: [])
      return RunMeasurement(
        totalSeconds: total, processorSeconds: total, peakMegabytes: 1, saves: 1, rows: 1,
        main: MainThreadFigures(spans: span, blocks: span, processorNanoseconds: 1, latencies: [1]),
        list: nil,
        screens: [screen], timeline: Timeline())
    }
    var workload = Workload()
    (workload.stacks, workload.runs) = ([.nested2, .shared], 2)
    let result = ShootoutResult(
      workload: workload, sourceName: "x", lines: 1,
      measurements: [
        .floor: [run(1, nil, waits: [])],
        .stack(.nested2): [run(2, 1, waits: [50, 60]), run(2, 1, waits: [55])],
        // Slow alone is no fault of the design.
        .stack(.shared): [run(3, 2, waits: [31, 33]), run(3, 2, waits: [90])],
      ])
    #expect(result.stacks[0].screenDelay == 25 && result.stacks[1].screenDelay == 3)
    #expect(Recommendation(result).choice == .shared)
    let told = Verdict(result).sentences.joined(separator: " ")
    #expect(
      told.contains(
        "An import delays screens by more than a frame in nested2 by 25.0 ms, in the others it does not."))
  }

  @Test func `where all block main, the one that blocks it least is chosen`() {
    let choice = _recommendation([(.main, [1, 1], 500), (.nested2, [2, 2], 80), (.nested3, [3, 3], 30)])
    #expect(choice.choice == .nested3)
    #expect(
      choice.sentence
        == "Choose nested3: none keeps main within a frame, and it blocks main least, for 30.0 ms at once.")
  }

  @Test func `a design that keeps main busy most of the time is not chosen, short as its blocks are`() {
    func run(_ total: Double, busy: Double) -> RunMeasurement {
      let blocks = (0..<100).map { number in
        TimeSpan(begin: UInt64(number) * 10_000_000, end: UInt64(number) * 10_000_000 + UInt64(busy * 1e7))
      }
      return RunMeasurement(
        totalSeconds: total, processorSeconds: total, peakMegabytes: 1, saves: 1, rows: 1,
        main: MainThreadFigures(spans: blocks, blocks: blocks, processorNanoseconds: 1, latencies: [1]),
        list: nil, timeline: Timeline())
    }
    var workload = Workload()
    (workload.stacks, workload.runs) = ([.main, .shared, .nested3], 2)
    let result = ShootoutResult(
      workload: workload, sourceName: "x", lines: 1,
      measurements: [
        .stack(.main): [run(1, busy: 0.9), run(1, busy: 0.9)],
        .stack(.shared): [run(1.02, busy: 0.1), run(1, busy: 0.1)],
        .stack(.nested3): [run(1, busy: 0.4), run(1.01, busy: 0.4)],
      ])
    #expect(
      Recommendation(result).sentence
        == "Choose shared: no design blocks main for a frame; it leaves main at least half of the time, which one of the others "
        + "does not; of those as fast (also nested3) it is the simplest.")
  }

  @Test func `there is no choice of one`() {
    #expect(_recommendation([(.shared, [1], 1)]).sentence == nil)
  }
}
