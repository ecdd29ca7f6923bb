import CoreDataToolKit
import Foundation
import TestSupport
import Testing

@testable import CoreDataStackShootout

/// The reports of a made-up result as they were when somebody last looked at them, in 'Reports'.
@Suite struct RecordedReportTests {
  private static func _reports() throws -> [(name: String, text: String)] {
    let scratch = try ScratchDirectory()
    let recording = scratch.file("trace.ndjson")
    try Data((TraceTests.head + "\n" + TraceTests.lines).utf8).write(to: URL(fileURLWithPath: recording))
    let recorded = try TraceReader.read([recording])
    let trace = try TraceReport(
      recorded, TraceSummary(recorded), TracePlans(nil, model: nil, .process), top: 10)
    let machine = Machine(processor: "A processor", processors: 2, system: "A system", isDebugBuild: false)
    let date = Date(timeIntervalSince1970: 1_000_000_000)
    let plain = sampleResult(machine: machine, date: date)
    let list = sampleResult(
      source: .generated(count: 100), stacks: StackDesign.allCases,
      list: ListFigures(rows: 9, rounds: 4, changes: 12), machine: machine, date: date)
    let screens = sampleResult(showsScreens: true, machine: machine, date: date)
    return [
      ("trace.html", trace.html), ("trace.txt", trace.text(usesColor: false)),
      ("trace.json", trace.json.text()),
      ("page-screens.html", ReportPage(screens).html),
      ("table-screens.txt", ResultTable(screens).text(usesColor: false)),
      ("result-screens.json", ResultDocument(screens).json.text()),
      ("page.html", ReportPage(plain).html), ("page-list.html", ReportPage(list).html),
      ("picture.svg", TimelinePicture(plain).svg), ("picture-list.svg", TimelinePicture(list).svg),
      ("table.txt", ResultTable(plain).text(usesColor: false)),
      ("table-color.txt", ResultTable(plain).text(usesColor: true)),
      ("table-list.txt", ResultTable(list).text(usesColor: false)),
      ("result.json", ResultDocument(list).json.text()),
    ]
  }

  /// A tag a line, without the version of the database.
  private static func _plain(_ text: String) -> String {
    text.replacing(/(?s)<style>.*?<\/style>/, with: "").replacing(Machine.sqlite, with: "3.0.0")
      .replacing("><", with: ">\n<") + "\n"
  }

  @Test func `reports are as they were when somebody looked at them`() throws {
    for (name, report) in try Self._reports() {
      let difference = try RecordedText(name, in: "Reports").difference(of: Self._plain(report))
      #expect(difference == nil)
    }
  }
}
