import CoreDataToolKit
import Foundation
import MainThreadWatch
import Testing

@testable import CoreDataStackShootout

/// Returns a result without a run.
func sampleResult(
  source: Workload.Source = .file(path: "/x/a<b>.txt"), stacks: [StackDesign] = [.shared, .nested3],
  list: ListFigures? = nil, showsScreens: Bool = false, machine: Machine = .current, date: Date = Date()
) -> ShootoutResult {
  var workload = Workload()
  workload.source = source
  workload.runs = 3
  workload.keepsLiveList = list != nil
  workload.stacks = stacks
  func screens(_ factor: Double, isFloor: Bool) -> [ScreenFigures] {
    guard showsScreens else { return [] }
    return [("Open <orders>", 4.0), ("badge", 0.2)].map { name, first in
      ScreenFigures(
        name: name, firstMilliseconds: first * factor, againMilliseconds: first,
        busyMilliseconds: isFloor ? [] : [first, first * 2 * factor, first * 8 * factor],
        longestMilliseconds: first * factor, totalMilliseconds: first * 3 * factor, statements: 12,
        faults: isFloor ? 0 : 7, found: 1234, order: [])
    }
  }
  func run(_ total: Double, longest: UInt64, main: Bool = true) -> RunMeasurement {
    let spans = [TimeSpan(begin: 0, end: longest * 1_000_000)]
    let advice = ScreenAdvice(
      screen: "Open <orders>", change: "prefetching 'customer'", before: 12, after: 4, statementsBefore: 12,
      statementsAfter: 2, isOfFirstRows: false)
    return RunMeasurement(
      totalSeconds: total, processorSeconds: total, peakMegabytes: 40, saves: 4, rows: 1000,
      main: main
        ? MainThreadFigures(
          spans: spans, blocks: spans, processorNanoseconds: 1_000_000, latencies: [200_000, 900_000]) : nil,
      list: main ? list : nil, screens: screens(main ? 1 + Double(longest) / 10 : 0.5, isFloor: !main),
      advice: showsScreens && !main ? [advice] : [],
      timeline: Timeline(
        main: [.init(begin: total / 2, end: total / 2 + Double(longest) / 1000)],
        dropped: longest > 16 ? [.init(begin: total / 2, end: total / 2 + Double(longest) / 1000)] : [],
        background: [.init(begin: 0, end: total, processors: 0.9)], saves: [total / 4, total]))
  }
  var measurements: [Subject: [RunMeasurement]] = [
    .floor: [0.5, 0.1, 0.2].map { run($0, longest: 0, main: false) }
  ]
  for stack in stacks {
    measurements[.stack(stack)] = [0.6, 0.4, 0.3].map { run($0, longest: stack == .nested3 ? 20 : 1) }
  }
  return ShootoutResult(
    workload: workload, sourceName: "a<b>.txt", lines: 1000, skippedRows: 2, measurements: measurements,
    machine: machine, date: date)
}

@Suite("Reports")
struct ReportTests {
  @Test func `Figures are medians and the ratio is that of the medians`() {
    let stack = sampleResult().stacks[0]
    #expect(stack.totalSeconds == 0.4)
    #expect(stack.ratioToFloor == 2)
    #expect(stack.totalRange == 0.3...0.6)
    #expect(stack.timeline.saves.last == 0.4)
  }

  @Test func `A timeline's areas are as high as the load was`() throws {
    let page = ReportPage(sampleResult()).html
    let paths = page.matches(of: /<path class="(?:main|background)" d="([^"]*)"/).map { String($0.1) }
    #expect(!paths.isEmpty)
    for path in paths {
      // From the bottom up to the load, along, and down again.
      let heights = path.matches(of: /V([0-9.]+)/).compactMap { Double($0.1) }
      let bottom = try #require(heights.last)
      #expect(heights.contains { $0 < bottom - 10 }, "\(path)")
    }
  }

  @Test func `The JSON form has its fixed keys`() throws {
    let text = ResultDocument(sampleResult()).json.text()
    let document = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    let workload = try #require(document["workload"] as? [String: Any])
    #expect(workload["source"] as? String == "a<b>.txt")
    #expect(workload["stops"] as? Int == 1000)
    #expect(workload["skippedRows"] as? Int == 2)
    #expect(workload["mode"] as? String == "find-or-create")
    #expect(workload["saveEvery"] as? Int == 250)
    #expect(workload["runs"] as? Int == 3)
    #expect(workload["synchronous"] as? String == "NORMAL")
    let floor = try #require(document["floor"] as? [String: Any])
    #expect(Set(floor.keys).isSuperset(of: ["total_s", "peak_mb"]))
    let stacks = try #require(document["stacks"] as? [[String: Any]])
    #expect(stacks.map { $0["id"] as? String } == ["shared", "nested3"])
    #expect(
      Set(stacks[1].keys).isSuperset(of: [
        "id", "total_s", "ratio_to_floor", "main_busy_s", "main_longest_ms", "frames_dropped", "heartbeat_ms",
        "saves", "peak_mb", "rows",
      ]))
    #expect(stacks[1]["frames_dropped"] as? Int == 1)
    #expect((stacks[1]["heartbeat_ms"] as? [String: Double])?.keys.sorted() == ["max", "p50", "p99"])
  }

  @Test func `The table has a line for the floor and each stack`() {
    let lines = ResultTable(sampleResult()).text(usesColor: false).split(separator: "\n").map(String.init)
    #expect(lines[2].hasPrefix("SQLite C API"))
    #expect(lines[3].hasPrefix("shared"))
    #expect(lines[4].hasPrefix("nested3"))
    #expect(lines[4].contains("20.0"))
    let text = lines.joined(separator: "\n")
    #expect(text.contains("\n1,000 stops of a<b>.txt (2 rows skipped), find-or-create"))
    for word in ["× floor", "busy", "longest", "dropped", "heartbeat"] { #expect(text.contains("\(word): ")) }
  }

  @Test func `All three report forms show what a live list showed`() throws {
    let result = sampleResult(list: ListFigures(rows: 987, rounds: 6, changes: 1234))
    let lines = ResultTable(result).text(usesColor: false).split(separator: "\n")
    #expect(lines[0].contains("live list"))
    #expect(lines[3].hasSuffix("987       6    1,234"))
    #expect(lines.contains { $0.contains("a live list of all stops by name on main") })
    let page = ReportPage(result).html
    #expect(page.contains(">live list</th>") && page.contains("<td>1,234</td>"))
    let json = ResultDocument(result).json.text()
    let document = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let stacks = try #require(document["stacks"] as? [[String: Any]])
    #expect(stacks[0]["list"] as? [String: Int] == ["rows": 987, "rounds": 6, "changes": 1234])
    let plain = sampleResult()
    #expect(!ResultTable(plain).text(usesColor: false).contains("live list"))
    #expect(!ReportPage(plain).html.contains("live list"))
    #expect(!ResultDocument(plain).json.text().contains("\"list\""))
  }

  @Test(arguments: [true, false])
  func `The page's rows have as many cells as there are columns`(_ keepsList: Bool) {
    let list = keepsList ? ListFigures(rows: 1, rounds: 1, changes: 1) : nil
    let rows = ReportPage(sampleResult(list: list)).html.components(separatedBy: "<tr>").dropFirst(3)
    #expect(
      rows.map { $0.components(separatedBy: "<td").count - 1 }
        == [Int](repeating: keepsList ? 14 : 11, count: 3))
  }

  @Test func `Each line of the verdict leads to what explains it on the page`() {
    let html = ReportPage(sampleResult()).html
    let lines = Verdict(sampleResult()).lines
    #expect(html.ranges(of: "class=\"why\"").count == lines.count && lines.count == 4)
    for (_, article) in lines {
      #expect(html.ranges(of: "<dt id=\"\(article.rawValue)\"").count == 1)
      #expect(html.contains("The article &#39;\(article.document)&#39; says more."))
    }
    let text = ResultTable(sampleResult()).text(usesColor: false)
    #expect(text.contains("\nThe documentation says more: 'The shootout', 'Choosing a stack'.\n"))
  }

  @Test func `The verdict names the fastest and the lightest for main`() {
    let sentences = Verdict(sampleResult()).sentences
    #expect(
      sentences == [
        "All took about 0.400 s in all.", "Least work for the main thread: shared, 0.001 s.",
        "Never blocked main for a frame (16.7 ms): shared; nested3 blocked it for 20.0 ms at once.",
        "Choose shared: it never blocks main for a frame, as one of the others does.",
      ])
    #expect(
      Verdict(sampleResult(stacks: [.shared])).sentences == [
        "None blocked main for a frame (16.7 ms) at once."
      ])
    #expect(Verdict(sampleResult(stacks: [])).sentences.isEmpty)
  }

  @Test func `Every form names the machine and a slow debug build`() throws {
    let name = Machine.processorName(in: "processor\t: 0\nmodel name\t: Some CPU @ 2 GHz\nflags: x\n")
    #expect(name == "Some CPU @ 2 GHz")
    #expect(Machine.processorName(in: "nonsense") == "unnamed processor")
    let result = sampleResult()
    let line = result.machine.line(result.place.engine)
    #expect(line.contains("SQLite 3."))
    #expect(line.contains("debug build") == result.machine.isDebugBuild)
    #expect(ResultTable(result).text(usesColor: false).contains(line))
    let json = ResultDocument(result).json.text()
    let document = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    let machine = try #require(document["machine"] as? [String: Any])
    #expect(machine["processors"] as? Int == result.machine.processors)
  }

  @Test func `The page is self-contained and escapes foreign text`() {
    let html = ReportPage(sampleResult()).html
    #expect(html.hasPrefix("<!DOCTYPE html>"))
    #expect(html.contains("a&lt;b&gt;.txt"))
    #expect(!html.contains("a<b>"))
    let outward = html.replacing("href=\"#", with: "")
    for outside in ["src=", "href=", "@import", "url("] { #expect(!outward.contains(outside)) }
    #expect(html.ranges(of: "<svg").count == 2)
  }

  @Test func `A timeline ticks each save and marks each dropped frame`() {
    let stack = sampleResult().stacks[1]
    let svg = TimelineDrawing(scale: 0.6, floorSeconds: 0.2).svg(stack).text
    func elements(_ name: String) -> Int { svg.ranges(of: "class=\"\(name)\"").count }
    #expect(elements("save") == 2)
    #expect(elements("dropped") == 1)
    #expect(elements("main") == 1)
    #expect(elements("background") == 1)
    #expect(elements("floor") == 1)
  }

  @Test(arguments: [0, Double.nan, .infinity, 1e-9])
  func `Drawings stand figures that make no sense`(scale: Double) {
    #expect(
      TimelineDrawing(scale: scale, floorSeconds: scale).svg(sampleResult().stacks[0]).text.hasSuffix(
        "</svg>"))
  }

  @Test(arguments: [(1.0, 0.2), (0.08, 0.01), (3.3, 0.5), (90, 20)])
  func `The time axis has round steps`(scale: Double, step: Double) {
    #expect(abs(TimelineDrawing.axisStep(for: scale) - step) < step / 1000)
  }

  @Test(arguments: [(0, "0"), (999, "999"), (12_793, "12,793"), (-1_000_000, "-1,000,000")])
  func `Thousands are set apart`(count: Int, text: String) {
    #expect(Figures.count(count) == text)
  }
}
