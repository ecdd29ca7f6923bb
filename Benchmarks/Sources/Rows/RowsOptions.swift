import Foundation
import Measuring

/// The command line of `Scripts/benchmark rows`, understood.
struct RowsOptions {
  typealias Mistake = MeasuringTool.Mistake

  var sizes: [Int] = []
  var steps: [RowsStep]?
  var directory: String?
  var checksMemory = false

  static let defaultSize = 100_000

  init(_ arguments: [String]) throws {
    var rest = arguments[...]
    func value(_ option: String) throws -> String {
      guard let value = rest.popFirst() else { throw Mistake(description: "'\(option)' needs a value.") }
      return value
    }
    while let word = rest.popFirst() {
      switch word {
      case "--steps":
        steps = try value(word).split(separator: ",").map { name in
          guard let step = RowsStep(rawValue: String(name)) else {
            throw Mistake(description: "There is no step '\(name)'. '--help' lists them.")
          }
          return step
        }
      case "--directory":
        let path = try value(word)
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue
        else { throw Mistake(description: "'\(path)' is not a directory.") }
        directory = path
      case "--check": checksMemory = true
      case _ where word.hasPrefix("-"):
        throw Mistake(description: "'\(word)' is not understood. '--help' lists what is.")
      default:
        guard let rows = Int(word), (20_000...100_000_000).contains(rows) else {
          throw Mistake(description: "ROWS is a number from 20000 to 100000000, not '\(word)'.")
        }
        guard rows > sizes.last ?? 0 else {
          throw Mistake(description: "Sizes ascend: '\(word)' comes after '\(sizes.last ?? 0)'.")
        }
        sizes.append(rows)
      }
    }
    if sizes.isEmpty { sizes = [Self.defaultSize] }
    if checksMemory, sizes.count < 2 {
      throw Mistake(description: "'--check' compares two sizes at least.")
    }
  }

  /// Whether a step is to be taken. A step's store is what those before it have left.
  func takes(_ step: RowsStep) -> Bool {
    guard let steps else { return true }
    if steps.contains(step) || step == .importObjects { return true }
    return step == .addAttribute && steps.contains(.changeType)
  }
}
