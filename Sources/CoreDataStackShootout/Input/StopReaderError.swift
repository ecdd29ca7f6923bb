import CoreDataToolKit

/// An input that cannot be imported from at all.
package enum StopReaderError: Error, Sendable, Equatable, CustomStringConvertible {
  case noSuchFile(path: String)
  case unreadable(path: String, reason: String)
  case isDirectory(path: String)
  case empty(name: String)
  case notUTF8(name: String, line: Int, looksLikeUTF16: Bool)
  case missingColumns(name: String, missing: [String], found: [String])
  case noStops(name: String, skippedRows: Int, first: StopFeed.Problem?)

  package var description: String {
    switch self {
    case .noSuchFile(let path):
      "There is no file '\(path)'. Give the path of a GTFS stops.txt."
    case .unreadable(let path, let reason):
      "Cannot read '\(path)': \(reason)."
    case .isDirectory(let path):
      "'\(path)' is a directory. Give the path of the stops.txt in it."
    case .empty(let name):
      "'\(name)' is empty. A GTFS stops.txt starts with a line of column names."
    case .notUTF8(let name, let line, let looksLikeUTF16):
      looksLikeUTF16
        ? "'\(name)' is not UTF-8; it looks like UTF-16. GTFS files are UTF-8: convert it first."
        : "'\(name)' is not UTF-8 (line \(line)). GTFS files are UTF-8: convert it first."
    case .missingColumns(let name, let missing, let found):
      "'\(name)' lacks the column\(missing.count == 1 ? "" : "s") \(missing.joined(separator: ", ")). "
        + "Its first line has \(Self._listed(found))."
    case .noStops(let name, let skippedRows, let first):
      "'\(name)' has no stop that could be imported"
        + (first.map { ": \(skippedRows) rows were skipped, the first in line \($0.line): \($0.reason)." }
          ?? ": nothing follows its line of column names.")
    }
  }

  /// The failure that ends the tool.
  package var failure: ToolFailure {
    switch self {
    case .noSuchFile, .unreadable, .isDirectory: ToolFailure(.noInput, description)
    case .empty, .notUTF8, .missingColumns, .noStops: ToolFailure(.badInput, description)
    }
  }

  private static func _listed(_ names: [String]) -> String {
    let shown = names.prefix(12).map { name in
      let printable = name.unicodeScalars.prefix(30).filter { $0.properties.generalCategory != .control }
      return "'" + String(String.UnicodeScalarView(printable)) + "'"
    }
    return shown.joined(separator: ", ") + (names.count > shown.count ? " and others" : "")
  }
}
