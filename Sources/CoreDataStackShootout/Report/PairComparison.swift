import CoreDataToolKit
import Foundation
import MainThreadWatch

/// Two builds of the tool that have run in turn: by how much the figures of this one differ, run by run.
struct PairComparison {
  /// A line for each stack and figure.
  private(set) var lines: [String] = []
  /// The lines of those beyond their limit.
  private(set) var excesses: [String] = []
  /// The runs that would tell growths as small as the limits from noise, if they are more than there were.
  private(set) var runsNeeded: Int?

  /// - Parameters:
  ///   - mine: The runs of this build.
  ///   - theirs: Those of the other one, each beside one of this.
  ///   - limits: Of growths; those of values are another comparison's.
  init(
    _ mine: [Subject: [RunMeasurement]], with theirs: [Subject: [RunMeasurement]], _ stacks: [StackDesign],
    _ limits: [RunLimit]
  ) {
    var needed = 0
    let runs = mine.values.map(\.count).max() ?? 0
    for design in stacks {
      let pairs = Array(zip(mine[.stack(design)] ?? [], theirs[.stack(design)] ?? []))
      for figure in RunLimit.Figure.allCases {
        let ratios = pairs.compactMap { one, other -> Double? in
          let old = Self._value(figure, other)
          return old > 0 ? Self._value(figure, one) / old : nil
        }
        guard !ratios.isEmpty else { continue }
        let growth = Statistics.median(ratios) - 1
        let deviation = Statistics.relativeDeviation(ratios)
        let error = 2 * 1.25 * deviation / Double(ratios.count).squareRoot()
        var line =
          "\(design.rawValue): \(figure.rawValue) \(Self._text(figure, pairs.map(\.0))), "
          + "\(Self._text(figure, pairs.map(\.1))) of the other build"
        line +=
          abs(growth) <= error
          ? String(format: ": equal (within %.1f %%)", error * 100)
          : String(format: ": %+.1f %% (give or take %.1f %%)", growth * 100, error * 100)
        var isBeyond = false
        for limit in limits where limit.figure == figure {
          guard case .growth(let share) = limit.bound else { continue }
          line += String(format: ", at most %+.1f %%", share * 100)
          isBeyond = isBeyond || growth > share
          let root = 2 * 1.25 * deviation / share
          needed = max(needed, min(1000, Int((root * root).rounded(.up))))
        }
        lines.append((isBeyond ? "beyond its limit: " : "") + line)
        if isBeyond { excesses.append(line) }
      }
    }
    if needed > runs { runsNeeded = needed }
  }

  private static func _value(_ figure: RunLimit.Figure, _ run: RunMeasurement) -> Double {
    switch figure {
    case .total: run.totalSeconds
    case .main: run.main?.processorSeconds ?? 0
    case .longest: run.main?.longestMilliseconds ?? 0
    case .peak: run.peakMegabytes
    }
  }

  private static func _text(_ figure: RunLimit.Figure, _ runs: [RunMeasurement]) -> String {
    let value = Statistics.median(runs.map { _value(figure, $0) })
    return switch figure {
    case .total, .main: Figures.seconds(value) + " s"
    case .longest: Figures.milliseconds(value) + " ms"
    case .peak: Figures.megabytes(value) + " MB"
    }
  }
}
