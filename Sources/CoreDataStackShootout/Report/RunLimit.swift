import CoreDataToolKit
import Foundation

/// A limit of a figure, as `--limit` gives it: a growth since a baseline, or a value.
struct RunLimit: Sendable, Equatable {
  /// The figures that can be limited.
  enum Figure: String, Sendable, CaseIterable {
    /// The total, in totals of the floor in the same runs.
    case total
    /// Main's processor time, in processor times of the floor.
    case main
    /// The longest block of main, in milliseconds.
    case longest
    /// Peak memory, in megabytes.
    case peak

    /// The unit of a value: times the floor without one.
    var unit: String {
      switch self {
      case .total, .main: "x"
      case .longest: "ms"
      case .peak: "MB"
      }
    }
  }

  enum Bound: Sendable, Equatable {
    /// A share of the baseline's figure: 0.1 is ten per cent more.
    case growth(Double)
    case value(Double)
  }

  let figure: Figure
  let bound: Bound

  /// What is compared unless limits are given.
  static let usual = [
    RunLimit(figure: .total, bound: .growth(0.1)), RunLimit(figure: .main, bound: .growth(0.1)),
  ]

  init(figure: Figure, bound: Bound) { (self.figure, self.bound) = (figure, bound) }

  /// Reads `total=+10%`, `total=2.5x`, `longest=16.7ms`, `peak=60MB`.
  init(_ text: String) throws(UsageError) {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let figure = Figure(rawValue: parts[0]) else { throw Self._misread(text) }
    self.figure = figure
    if parts[1].hasPrefix("+"), parts[1].hasSuffix("%"),
      let percent = Self._number(parts[1].dropFirst().dropLast())
    {
      bound = .growth(percent / 100)
    } else if parts[1].hasSuffix(figure.unit), let value = Self._number(parts[1].dropLast(figure.unit.count))
    {
      bound = .value(value)
    } else {
      throw Self._misread(text)
    }
  }

  private static func _number(_ text: Substring) -> Double? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(text) else {
      return nil
    }
    return number
  }

  private static func _misread(_ text: String) -> UsageError {
    let forms = Figure.allCases.flatMap { ["\($0.rawValue)=+10%", "\($0.rawValue)=20\($0.unit)"] }
    return .wrongForm(option: "--limit", text: text, form: forms.joined(separator: ", "))
  }

  /// The value in words.
  func text(_ value: Double) -> String {
    switch figure {
    case .total, .main: Figures.ratio(value) + " of the floor"
    case .longest: Figures.milliseconds(value) + " ms"
    case .peak: Figures.megabytes(value) + " MB"
    }
  }
}
