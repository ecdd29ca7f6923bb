import Foundation
import Measuring

/// What a unit of each case took at both sizes.
struct GrowthReport {
  struct Result {
    let growth: GrowthCase
    let size: Int
    var small: [GrowthMeasurement] = []
    var large: [GrowthMeasurement] = []
    var attempts = 0
    /// The growth of a unit in instructions, counted when time is beyond the law: what else runs on the machine, and what
    /// its caches hold, is in the times of a unit but not here.
    var instructionRatio: Double?

    /// The cheapest process: what else ran on the machine only adds.
    var smallMicroseconds: Double { small.map(\.microseconds).min() ?? 0 }
    var largeMicroseconds: Double { large.map(\.microseconds).min() ?? 0 }
    var smallMegabytes: Double { small.map(\.megabytes).min() ?? 0 }
    var largeMegabytes: Double { large.map(\.megabytes).min() ?? 0 }
    var ratio: Double { largeMicroseconds / max(smallMicroseconds, .leastNonzeroMagnitude) }

    /// Whether the time of a unit grows more than the work may.
    var isSlow: Bool { ratio > growth.law.limit }

    /// What grows more than it may.
    var complaints: [String] {
      var complaints: [String] = []
      let limit = growth.law.limit
      if isSlow, instructionRatio.map({ $0 > limit }) ?? true {
        let counted = instructionRatio.map { ", \(TextTable.number($0)) times the instructions" } ?? ""
        complaints.append(
          "'\(growth.name)' takes \(TextTable.number(largeMicroseconds)) µs a unit with "
            + "\(size * GrowthCase.factor), \(TextTable.number(ratio)) times the "
            + "\(TextTable.number(smallMicroseconds)) µs with \(size)\(counted) "
            + "(at most \(TextTable.number(limit))).")
      }
      let growth = largeMegabytes - smallMegabytes
      if !self.growth.holds, growth > GrowthReport._tolerance {
        complaints.append(
          "'\(self.growth.name)' holds \(TextTable.number(growth)) MB more with "
            + "\(size * GrowthCase.factor) than with \(size) "
            + "(at most \(TextTable.number(GrowthReport._tolerance)))."
        )
      }
      return complaints
    }
  }

  /// Megabytes by which two processes that hold as much may differ.
  fileprivate static let _tolerance = 4.0

  var results: [Result] = []
  /// The cases that could not be measured, as sentences.
  var failures: [String] = []

  var complaints: [String] { results.flatMap(\.complaints) }

  /// A table, and the cases that time alone would refuse.
  var text: String {
    var lines = [["case", "n", "µs", "10 n", "µs", "growth", "may", "MB", "10 n MB"]]
    for result in results {
      lines.append([
        result.growth.name, "\(result.size)", TextTable.number(result.smallMicroseconds),
        "\(result.size * GrowthCase.factor)", TextTable.number(result.largeMicroseconds),
        TextTable.number(result.ratio), TextTable.number(result.growth.law.limit),
        TextTable.number(result.smallMegabytes), TextTable.number(result.largeMegabytes),
      ])
    }
    let cleared = results.filter { $0.isSlow && ($0.instructionRatio ?? .infinity) <= $0.growth.law.limit }
    return TextTable.aligned(lines)
      + cleared.map {
        "'\($0.growth.name)' grows by \(TextTable.number($0.instructionRatio ?? 0)) in instructions.\n"
      }.joined()
  }
}
