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

    /// The cheapest process: what else ran on the machine only adds.
    var smallMicroseconds: Double { small.map(\.microseconds).min() ?? 0 }
    var largeMicroseconds: Double { large.map(\.microseconds).min() ?? 0 }
    var smallMegabytes: Double { small.map(\.megabytes).min() ?? 0 }
    var largeMegabytes: Double { large.map(\.megabytes).min() ?? 0 }
    var ratio: Double { largeMicroseconds / max(smallMicroseconds, .leastNonzeroMagnitude) }

    /// What grows more than it may.
    var complaints: [String] {
      var complaints: [String] = []
      let limit = growth.law.limit
      if ratio > limit {
        complaints.append(
          "'\(growth.name)' takes \(TextTable.number(largeMicroseconds)) µs a unit with "
            + "\(size * GrowthCase.factor), \(TextTable.number(ratio)) times the "
            + "\(TextTable.number(smallMicroseconds)) µs with \(size) (at most \(TextTable.number(limit))).")
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

  var complaints: [String] { results.flatMap(\.complaints) }

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
    return TextTable.aligned(lines)
  }
}
