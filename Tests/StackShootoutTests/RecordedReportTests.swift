import CoreDataToolKit
import Foundation
import Testing

@testable import CoreDataStackShootout

/// The reports of a made-up result as they were when somebody last looked at them, in 'Reports'.
///
/// A report that is meant to change: run with `COREDATA_RECORD_PAGES=1`, and look at the difference.
@Suite struct RecordedReportTests {
  private static func _reports() -> [(name: String, text: String)] {
    let machine = Machine(processor: "A processor", processors: 2, system: "A system", isDebugBuild: false)
    let date = Date(timeIntervalSince1970: 1_000_000_000)
    let plain = sampleResult(machine: machine, date: date)
    let list = sampleResult(
      source: .generated(count: 100), stacks: StackDesign.allCases,
      list: ListFigures(rows: 9, rounds: 4, changes: 12), machine: machine, date: date)
    return [
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
    let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "Reports")
    for (name, report) in Self._reports() {
      let (file, now) = (directory.appendingPathComponent(name), Self._plain(report))
      if ProcessInfo.processInfo.environment["COREDATA_RECORD_PAGES"] == "1" {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try now.write(to: file, atomically: true, encoding: .utf8)
        continue
      }
      let before = try String(contentsOf: file, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false)
      let lines = now.split(separator: "\n", omittingEmptySubsequences: false)
      let differs = zip(before, lines).enumerated().first { $0.element.0 != $0.element.1 }
      #expect(
        before.count == lines.count && differs == nil,
        """
        \(name) differs in line \((differs?.offset ?? min(before.count, lines.count)) + 1): \
        '\(differs?.element.1.prefix(200) ?? "")', which was '\(differs?.element.0.prefix(200) ?? "")'. \
        Run with COREDATA_RECORD_PAGES=1 if that is meant, and look at what has changed.
        """)
    }
  }
}
