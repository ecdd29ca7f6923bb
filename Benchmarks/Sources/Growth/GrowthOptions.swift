import Foundation
import Measuring

/// The command line of `Scripts/benchmark growth`, understood.
struct GrowthOptions {
  typealias Mistake = MeasuringTool.Mistake

  var cases = GrowthCase.all
  /// Whether sizes are small, for a debug build.
  var isShort = false
  /// Whether a cost beyond its law is an error.
  var checks = false
  /// The database of the stores; nil for files.
  var server: String?

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    var isChosen = false
    while let word = rest.popFirst() {
      switch word {
      case "--short": isShort = true
      case "--check": checks = true
      // The script starts the server for '--store postgresql'.
      case "--server":
        server = rest.popFirst()
        if server == nil { throw Mistake(description: "'\(word)' needs a value.") }
      case "--cases":
        guard let names = rest.popFirst() else { throw Mistake(description: "'\(word)' needs a value.") }
        isChosen = true
        cases = try names.split(separator: ",").map { name in
          guard let growth = GrowthCase.named(String(name)) else {
            throw Mistake(description: "There is no case '\(name)'. '--help' lists them.")
          }
          return growth
        }
      default: throw Mistake(description: "'\(word)' is not understood. '--help' lists what is.")
      }
    }
    if server != nil, !isChosen { cases.removeAll { !$0.usesDatabase } }
  }
}
