import CoreDataToolKit
import Foundation

/// The figures of a shootout that others are compared with, read from its JSON.
struct Baseline: Decodable {
  struct Workload: Decodable, Equatable {
    var source: String
    var stops: Int?
    var records: Int?
    var entity: String?
    var keys: [String]?
    var mode: String
    var saveEvery: Int
    var liveList: Bool
    var synchronous: String
  }

  struct Floor: Decodable {
    var cpuS: Double
  }

  struct Stack: Decodable {
    var id: String
    var ratioToFloor: Double
    /// The relative standard deviation of the ratio over the runs; nil in documents of older versions.
    var ratioDeviation: Double?
    var mainCpuS: Double
    var mainLongestMs: Double
    var peakMb: Double
  }

  struct Machine: Decodable {
    var engine: String
    var debugBuild: Bool
  }

  var workload: Workload
  var floor: Floor
  var stacks: [Stack]
  var machine: Machine

  /// Reads a document that `--save` or `--format json` has written.
  ///
  /// - Throws: `ToolFailure` with what is wrong in it.
  init(path: String) throws {
    let input = try InputFile(path: path)
    var bytes: [UInt8] = []
    while let chunk = try input.nextBytes() { bytes += chunk }
    do {
      self = try Self._decoder.decode(Baseline.self, from: Data(bytes))
    } catch {
      throw ToolFailure(
        .badInput, "'\(path)' is no result of a shootout: write one with 'coredata shootout --save \(path)'.")
    }
  }

  init(_ result: ShootoutResult) throws {
    self = try Self._decoder.decode(Baseline.self, from: Data(ResultDocument(result).json.text().utf8))
  }

  /// Names are those of the document without underscores: `main_cpu_s` is `mainCpuS`.
  private static var _decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

  func value(_ figure: RunLimit.Figure, of stack: Stack) -> Double {
    switch figure {
    case .total: stack.ratioToFloor
    case .main: floor.cpuS > 0 ? stack.mainCpuS / floor.cpuS : 0
    case .longest: stack.mainLongestMs
    case .peak: stack.peakMb
    }
  }

  /// In what another shootout did other work; nil if it did the same.
  func difference(from other: Baseline) -> String? {
    func differs<Value: Equatable>(_ name: String, _ mine: Value, _ theirs: Value) -> String? {
      mine == theirs ? nil : "\(name) \(theirs) instead of \(mine)"
    }
    return [
      differs("source", workload.source, other.workload.source),
      differs("entity", workload.entity ?? "Stop", other.workload.entity ?? "Stop"),
      differs(
        "size", workload.stops ?? workload.records ?? 0, other.workload.stops ?? other.workload.records ?? 0),
      differs("mode", workload.mode, other.workload.mode),
      differs("lines between saves", workload.saveEvery, other.workload.saveEvery),
      differs("live list", workload.liveList, other.workload.liveList),
      differs("durability", workload.synchronous, other.workload.synchronous),
      differs("debug build", machine.debugBuild, other.machine.debugBuild),
    ].compactMap(\.self).first
  }
}

/// A result beside a baseline, within limits or not.
struct BaselineComparison {
  /// A line for each stack and limit.
  private(set) var lines: [String] = []
  /// The lines of those beyond their limit.
  private(set) var excesses: [String] = []
  /// The runs that the growths need to be told from noise, if they are more than there were.
  private(set) var runsNeeded: Int?

  /// - Parameter baseline: Nil if all limits are values.
  /// - Throws: `ToolFailure` for a baseline of other work.
  init(_ result: ShootoutResult, with baseline: Baseline?, _ limits: [RunLimit]) throws {
    let mine = try Baseline(result)
    if let baseline, let difference = mine.difference(from: baseline) {
      throw ToolFailure(.badInput, "The result to compare with is of other work: \(difference).")
    }
    var needed = 0
    for stack in mine.stacks {
      let before = baseline?.stacks.first { $0.id == stack.id }
      for limit in limits {
        let value = mine.value(limit.figure, of: stack)
        var line = "\(stack.id): \(limit.figure.rawValue) \(limit.text(value))"
        let isBeyond: Bool
        switch limit.bound {
        case .value(let most):
          isBeyond = value > most
          line += ", at most \(limit.text(most))"
        case .growth(let share):
          guard let baseline, let before else {
            lines.append(line + ", not in the result to compare with")
            continue
          }
          let old = baseline.value(limit.figure, of: before)
          let growth = old > 0 ? value / old - 1 : 0
          isBeyond = growth > share
          line += String(
            format: ", %+.1f %% from %@ (at most %+.1f %%)", growth * 100, limit.text(old), share * 100)
          if limit.figure == .total {
            needed = max(needed, Self._runs(stack.ratioDeviation ?? 0, share))
          }
        }
        lines.append((isBeyond ? "beyond its limit: " : "") + line)
        if isBeyond { excesses.append(line) }
      }
    }
    if needed > result.workload.runs { runsNeeded = needed }
  }

  /// Runs of which the medians tell a growth: twice the standard error of a median, which is 1.25 deviations by the root of
  /// the number.
  private static func _runs(_ deviation: Double, _ share: Double) -> Int {
    guard share > 0 else { return 0 }
    return min(1000, Int((2 * 1.25 * deviation / share * (2 * 1.25 * deviation / share)).rounded(.up)))
  }
}
