import Foundation

/// The arguments of `Scripts/benchmark`, whose help describes them.
struct Options {
  typealias Mistake = MeasuringTool.Mistake

  var isQuick = false
  var works: [Work]?
  var objects: Int?
  var runs: Int?
  var isJSON = false
  var countsInstructions = false
  var floorFile = FloorFile.plain
  var plotPath: String?
  var recordDirectory: String?
  /// Where earlier runs are kept.
  var resultsDirectory: String?
  /// Where programs for other implementations are; nil without any.
  var peersDirectory: String?
  /// URL of a PostgreSQL database; nil for SQLite files.
  var server: String?

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(_ option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Mistake(description: "'\(option)' needs a value.") }
      return value
    }
    func number(_ option: String, _ range: ClosedRange<Int>) throws -> Int {
      let text = try value(option)
      guard let number = Int(text), range.contains(number) else {
        throw Mistake(
          description:
            "'\(option)' takes a number from \(range.lowerBound) to \(range.upperBound), not '\(text)'.")
      }
      return number
    }
    while let option = rest.popFirst() {
      switch option {
      case "--quick": isQuick = true
      case "--works":
        works = try value(option).split(separator: ",").map { name in
          guard let work = Work(rawValue: String(name)), work != .template else {
            throw Mistake(
              description: "There is no work '\(name)'. 'Scripts/benchmark --help' lists them.")
          }
          return work
        }
      case "--objects": objects = try number(option, 3000...10_000_000)
      case "--runs": runs = try number(option, 1...100)
      case "--format":
        switch try value(option) {
        case "json": isJSON = true
        case "table": isJSON = false
        case let other: throw Mistake(description: "'--format' takes 'table' or 'json', not '\(other)'.")
        }
      case "--instructions": countsInstructions = true
      // The script starts the server for '--store postgresql'.
      case "--server": server = try value(option)
      // The script prepares the programs for '--peers'.
      case "--peers-directory": peersDirectory = try value(option)
      case "--floor":
        let name = try value(option)
        guard let file = FloorFile(rawValue: name) else {
          throw Mistake(description: "'--floor' takes 'plain' or 'core-data', not '\(name)'.")
        }
        floorFile = file
      case "--plot": plotPath = try value(option)
      case "--record": recordDirectory = ""
      case "--results-directory": resultsDirectory = try value(option)
      default:
        throw Mistake(description: "'\(option)' is not understood. 'Scripts/benchmark --help' lists what is.")
      }
    }
    if peersDirectory != nil, countsInstructions {
      throw Mistake(description: "'--peers' goes with measuring times, not with '--instructions'.")
    }
    if server != nil, countsInstructions {
      throw Mistake(description: "On a server there is no '--instructions': the server's would be missing.")
    }
    #if !POSTGRESQL
    if server != nil {
      throw Mistake(
        description: "This program measures no servers; run 'Scripts/benchmark --store postgresql'.")
    }
    #endif
    if server != nil, let work = works?.first(where: { !Work.comparedOnServer.contains($0) }) {
      throw Mistake(
        description: "'\(work.rawValue)' has no floor on PostgreSQL; these have: "
          + "\(Work.comparedOnServer.map(\.rawValue).joined(separator: ", ")).")
    }
    if recordDirectory != nil { recordDirectory = resultsDirectory ?? "Benchmarks/results" }
  }
}
