import CoreDataToolKit
import Foundation

/// Formats figures for display.
enum Figures {
  /// Seconds, with a precision that depends on their size.
  static func seconds(_ seconds: Double) -> String { String(format: seconds < 10 ? "%.3f" : "%.1f", seconds) }

  /// Milliseconds, with a precision that depends on their size.
  static func milliseconds(_ milliseconds: Double) -> String {
    String(format: milliseconds < 10 ? "%.2f" : milliseconds < 100 ? "%.1f" : "%.0f", milliseconds)
  }

  static func ratio(_ ratio: Double) -> String { String(format: "%.2f", ratio) }

  static func megabytes(_ megabytes: Double) -> String { String(format: "%.0f", megabytes) }

  /// A count with thousands separators.
  static func count(_ count: Int) -> String { grouped(count) }
}

extension ShootoutResult {
  /// One frame of a screen, in milliseconds.
  static let frameMilliseconds = 1000.0 / 60

  /// A description of the workload in one line.
  var caption: String {
    let source =
      switch workload.source {
      case .generated: "an invented city"
      case .records(let input) where sourceName == "generated":
        "the invention of \(Workload.name(ofInput: input.modelPath))"
      case .file, .records, .replay: sourceName
      }
    let skipped = skippedRows > 0 ? " (\(Figures.count(skippedRows)) rows skipped)" : ""
    let runs = workload.runs == 1 ? "one run" : "medians of \(workload.runs) runs"
    if case .replay(let input) = workload.source {
      let store = Workload.name(ofInput: input.storePath)
      return "\(workload.counted(lines)) of \(source), replayed on copies of \(store) "
        + (input.keepsPauses ? "with the recorded pauses" : "without pauses")
        + ", \(runs); \(place.durability)"
    }
    let list =
      if case .records = workload.source { "a live list of all of them" } else {
        "a live list of all stops by name"
      }
    return "\(workload.counted(lines)) of \(source)\(skipped), \(workload.mode.rawValue), "
      + (workload.keepsLiveList ? "\(list) on main, " : "")
      + "a save every \(Figures.count(workload.saveEvery)) lines, \(runs); "
      + "\(place.durability) on both sides"
  }
}
