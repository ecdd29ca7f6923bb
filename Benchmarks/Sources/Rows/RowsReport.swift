import Foundation
import Measuring

/// What both sides took for each step.
struct RowsReport {
  struct Result {
    var step: RowsStep
    var rows: Int
    var engine: [RowsMeasurement] = []
    var floor: [RowsMeasurement] = []

    var engineSeconds: Double { engine.map(\.seconds).median }
    var floorSeconds: Double { floor.map(\.seconds).median }
    var ratio: Double { engineSeconds / floorSeconds }
    var engineMegabytes: Double { engine.map(\.peakMegabytes).max() ?? 0 }
    var floorMegabytes: Double { floor.map(\.peakMegabytes).max() ?? 0 }
  }

  struct Files {
    var rows: Int
    var engineMegabytes: Double
    var floorMegabytes: Double
  }

  /// The most that an import of any size may hold. A debug build's program is larger.
  #if DEBUG
  static let mostMegabytes = Double.infinity
  #else
  static let mostMegabytes = 40.0
  #endif
  /// By how much two processes that do the same may differ.
  private static let _tolerance = 4.0

  var results: [Result] = []
  var files: [Files] = []

  private var _sizes: [Int] { files.map(\.rows) }

  var text: String {
    var lines = [["step", "rows", "engine s", "floor s", "x floor", "peak MB", "floor MB"]]
    for result in results {
      lines.append([
        result.step.rawValue, "\(result.rows)", Self._seconds(result.engineSeconds),
        Self._seconds(result.floorSeconds), TextTable.number(result.ratio),
        TextTable.number(result.engineMegabytes),
        TextTable.number(result.floorMegabytes),
      ])
    }
    var text = TextTable.aligned(lines) + _growth + "\n"
    for file in files {
      text += "\(file.rows) rows: the engine's file has \(Int(file.engineMegabytes)) MB at the end, "
      text += "the floor's \(Int(file.floorMegabytes)) MB\n"
    }
    return text
  }

  /// By how much time and memory grow from the smallest size to the largest; empty with one size.
  private var _growth: String {
    guard let first = _sizes.first, let last = _sizes.last, first != last else { return "" }
    var lines = [["from \(first) to \(last) rows", "engine x", "floor x", "engine MB", "floor MB"]]
    for (small, large) in _pairs {
      lines.append([
        small.step.rawValue, TextTable.number(large.engineSeconds / small.engineSeconds),
        TextTable.number(large.floorSeconds / small.floorSeconds),
        Self._signed(large.engineMegabytes - small.engineMegabytes),
        Self._signed(large.floorMegabytes - small.floorMegabytes),
      ])
    }
    return "\n" + TextTable.aligned(lines)
  }

  /// Each step with the smallest size and with the largest.
  private var _pairs: [(Result, Result)] {
    guard let first = _sizes.first, let last = _sizes.last, first != last else { return [] }
    return results.filter { $0.rows == first }.compactMap { small in
      results.first { $0.step == small.step && $0.rows == last }.map { (small, $0) }
    }
  }

  /// What holds more memory than it may.
  var complaints: [String] {
    var complaints: [String] = []
    for result in results where result.step.isImport && result.engineMegabytes > Self.mostMegabytes {
      complaints.append(
        "'\(result.step.rawValue)' of \(result.rows) rows held \(TextTable.number(result.engineMegabytes)) MB (at most "
          + "\(TextTable.number(Self.mostMegabytes))).")
    }
    for (small, large) in _pairs where !small.step.returnsRows {
      let growth = large.engineMegabytes - small.engineMegabytes
      let floor = max(0, large.floorMegabytes - small.floorMegabytes)
      if growth > floor + Self._tolerance {
        complaints.append(
          "'\(small.step.rawValue)' held \(TextTable.number(growth)) MB more with \(large.rows) rows than with "
            + "\(small.rows), the floor \(TextTable.number(floor)) MB.")
      }
    }
    return complaints
  }

  /// Seconds with as many digits as their size deserves.
  private static func _seconds(_ value: Double) -> String {
    String(format: value < 0.1 ? "%.4f" : value < 10 ? "%.2f" : "%.0f", value)
  }

  private static func _signed(_ value: Double) -> String { String(format: "%+.1f", value) }
}
