import Foundation

/// The command line, understood.
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
  var showsHelp = false
  /// URL of a PostgreSQL database; nil for SQLite files.
  var server: String?

  static let help = """
    Measures the engine beside SQLite's C API doing the same work.

    USAGE: Scripts/benchmark [options]

      --quick            15,000 objects and two runs of the short works: about two minutes
      --store STORE      sqlite (default), or postgresql: beside libpq, on a server of its own, which is installed if
                         there is none; for the works \(Work.comparedOnServer.map(\.rawValue).joined(separator: ", "))
      --works A,B        only these works
      --objects N        only stores of this size (default: 15,000; import-insert and fetch-all also with
                         150,000 and 1,000,000)
      --runs K           rounds in which engine and floor take turns (default: 5; 2 with --quick)
      --format FORMAT    table or json (default: table)
      --floor FILE       the floor's file: plain, as the workload has it (default), or core-data, with the
                         settings, collations and bookkeeping columns that Core Data's files have
      --instructions     count instructions instead, with perf or callgrind, net of setting up
      --peers            also run SQLAlchemy, peewee and EclipseLink, those that can be installed, in the same rounds
                         (three at most), with results that must be equal; on SQLite
      --plot FILE        draw the ratios beside the last recorded run's, as SVG
      --record           keep the results, and the plot, under Benchmarks/results
      --help             show this

    A real-time priority (chrt -f) steadies works of one thread and unsettles those of several by up to a second.
    Works with several threads therefore give it up, and the table says so.

    WORKS: \(Work.compared.map(\.rawValue).joined(separator: ", "));
      of the engine alone: \(Work.claims.map(\.rawValue).joined(separator: ", "));
      only when named: \(Work.traverseNSSet.rawValue)
    """

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
            throw Mistake(description: "There is no work '\(name)'. '--help' lists them.")
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
      case "--help", "-h": showsHelp = true
      default: throw Mistake(description: "'\(option)' is not understood. '--help' lists what is.")
      }
    }
    if peersDirectory != nil, countsInstructions || server != nil {
      throw Mistake(
        description: "'--peers' goes with measuring times on SQLite, not with '--instructions' or a server.")
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
      throw Mistake(description: "'\(work.rawValue)' is not measured on PostgreSQL. '--help' lists what is.")
    }
    if recordDirectory != nil { recordDirectory = resultsDirectory ?? "Benchmarks/results" }
  }
}
