import CoreDataToolKit
import Foundation

/// The results as a table in plain text or Markdown.
struct LoadTable: Sendable {
  private let _results: [ScenarioResult]

  init(_ results: [ScenarioResult]) { _results = results }

  private static let _columns:
    [(title: String, group: String?, value: @Sendable (ScenarioResult) -> String)] = [
      ("saves/s", nil, { _rate($0.saveRate) }),
      ("p50", "main block, CPU ms", { _milliseconds($0.blocks.processor.p50) }),
      ("p99", "main block, CPU ms", { _milliseconds($0.blocks.processor.p99) }),
      ("p99.9", "main block, CPU ms", { _milliseconds($0.blocks.processor.p999) }),
      ("longest", "main block, CPU ms", { _milliseconds($0.blocks.processor.longest) }),
      ("p99.9", "wall ms", { _milliseconds($0.blocks.wall.p999) }),
      ("longest", "wall ms", { _milliseconds($0.blocks.wall.longest) }),
      ("p50", "age shown, ms", { _milliseconds($0.ages.p50) }),
      ("p99", "age shown, ms", { _milliseconds($0.ages.p99) }),
      ("stale", "first reads", { "\(grouped($0.reads.stale)) of \(grouped($0.reads.count))" }),
      ("contexts", "most", { "\($0.mostContexts)" }),
      ("objects", "most", { grouped($0.mostObjects) }),
      ("MB", "live", { String(format: "%.2f", Double($0.late.bytes) / 1e6) }),
      ("growth", "live", { String(format: "%+.1f %%", _growth($0)) }),
      ("fds", nil, { "\($0.late.descriptors)" }),
      ("threads", nil, { "\($0.late.threads)" }),
      ("ghosts", nil, { $0.differences.isEmpty ? "0" : "yes" }),
    ]

  /// The table for a terminal.
  func text(usesColor: Bool) -> String {
    var table = TextTable(
      [.init("scenario", .left)] + Self._columns.map { .init($0.title, .right, in: $0.group) })
    for result in _results {
      table.add([.init(result.scenario.rawValue)] + Self._columns.map { .init($0.value(result)) })
    }
    return table.text(usesColor: usesColor)
  }

  private static func _growth(_ result: ScenarioResult) -> Double {
    result.early.bytes == 0
      ? 0 : Double(result.late.bytes - result.early.bytes) / Double(result.early.bytes) * 100
  }

  private static func _rate(_ rate: Double) -> String {
    rate < 10 ? String(format: "%.1f", rate) : grouped(Int(rate))
  }

  private static func _milliseconds(_ nanoseconds: UInt64) -> String {
    let milliseconds = Double(nanoseconds) / 1e6
    return milliseconds < 10 ? String(format: "%.2f", milliseconds) : String(format: "%.0f", milliseconds)
  }
}
