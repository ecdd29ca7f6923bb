import Foundation

/// A series of rounds of one kind.
package protocol TrialSeries: Sendable {
  /// The command that runs it.
  var command: String { get }
  /// Runs the rounds whose turn it is, and reports each.
  func run(in place: TrialPlace, turns: Turns, report: (RoundReport) -> Void) throws
  /// Runs the round of this name alone.
  static func runOne(_ name: String, in place: TrialPlace) throws -> RoundReport?
}

/// The selection of a driver's rounds: every nth.
package struct Turns: Sendable {
  package let driver: Int
  package let count: Int

  package func isMine(_ number: Int) -> Bool { number % count == driver }
}

/// The outcome of a round.
package struct RoundReport: Sendable {
  package enum Outcome: String, Sendable {
    case survived, failed, skipped
  }

  /// Series and kind, for the table.
  package let series: String
  package let kind: String
  package let name: String
  package let outcome: Outcome
  /// The failure, or the reason for skipping.
  package let words: String

  package init(_ series: String, _ kind: String, _ name: String, failure: String?) {
    self.init(series, kind, name, failure == nil ? .survived : .failed, failure ?? "")
  }

  package init(_ series: String, _ kind: String, _ name: String, _ outcome: Outcome, _ words: String) {
    (self.series, self.kind, self.name, self.outcome, self.words) = (series, kind, name, outcome, words)
  }

  /// As one line between processes, short enough to be written at once.
  package var line: String {
    let words = String(decoding: words.utf8.filter { $0 != 9 && $0 != 10 }.prefix(3000), as: UTF8.self)
    return [series, kind, name, outcome.rawValue, words].joined(separator: "\t") + "\n"
  }

  package init?(line: Substring) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 5, let outcome = Outcome(rawValue: fields[3]) else { return nil }
    self.init(fields[0], fields[1], fields[2], outcome, fields[4])
  }
}
