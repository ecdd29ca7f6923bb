import MainThreadWatch

/// What a screen cost main after an import.
struct ScreenFigures: Sendable, Codable, Equatable {
  var name: String
  /// The time until the first rows, the first object or the number was there, in a store that was opened just before.
  var firstMilliseconds: Double
  /// The same once more, in an emptied context on the same store.
  var againMilliseconds: Double
  /// The same while an import ran, waiting for main included; empty for the floor.
  var busyMilliseconds: [Double]
  /// The longest block of the screen on main.
  var longestMilliseconds: Double
  /// All blocks of the screen.
  var totalMilliseconds: Double
  /// SQL statements, or round trips to a server.
  var statements: Int
  /// Faults that read the store.
  var faults: Int
  /// The objects of a list, the objects opened, or the number of a badge.
  var found: Int
  /// The values by which the first rows are sorted.
  var order: [String]
}

extension ScreenFigures {
  /// The medians of several runs, with the waits of all.
  static func medians(_ runs: [[ScreenFigures]]) -> [ScreenFigures] {
    guard let first = runs.first else { return [] }
    return first.indices.map { index in
      let all = runs.compactMap { index < $0.count ? $0[index] : nil }
      func median(_ value: (ScreenFigures) -> Double) -> Double { Statistics.median(all.map(value)) }
      var figures = all[all.count - 1]
      figures.firstMilliseconds = median(\.firstMilliseconds)
      figures.againMilliseconds = median(\.againMilliseconds)
      figures.busyMilliseconds = all.flatMap(\.busyMilliseconds)
      figures.longestMilliseconds = median(\.longestMilliseconds)
      figures.totalMilliseconds = median(\.totalMilliseconds)
      return figures
    }
  }
}

/// A change of a screen's code or of the model with its effect, measured.
struct ScreenAdvice: Sendable, Codable, Equatable {
  var screen: String
  /// What is done, as the beginning of a sentence: 'prefetching "customer"'.
  var change: String
  var before: Double
  var after: Double
  var statementsBefore: Int
  var statementsAfter: Int
  /// Whether the times are those until the first rows, and not of the whole screen.
  var isOfFirstRows: Bool
}
