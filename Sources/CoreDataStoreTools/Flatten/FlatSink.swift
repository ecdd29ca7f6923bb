import CoreDataToolKit
import Foundation

/// What plain tables are written to.
protocol FlatSink {
  /// Begins a table, which may have no rows.
  func begin(_ table: String, _ columns: [FlatSchema.Column], key: [String]) throws
  /// Adds a row to the table that was begun last, with a value for each column.
  func add(_ row: [FlatValue]) throws
  func end() throws
  /// Adds a view; a form without views leaves it out.
  func add(_ view: FlatSchema.View) throws
  /// Makes the texts of a table searchable; a form without an index leaves it out.
  func index(_ texts: [String], of table: String) throws
  /// Ends it all.
  func finish() throws
}

extension FlatSink {
  func add(_ view: FlatSchema.View) {}
  func index(_ texts: [String], of table: String) {}
}

/// A directory with a CSV file for each table.
final class FlatCSV: FlatSink {
  private let _directory: OutputDirectory
  private var _sink: FileSink?

  init(_ directory: OutputDirectory) { _directory = directory }

  func begin(_ table: String, _ columns: [FlatSchema.Column], key: [String]) throws {
    let sink = try _directory.sink("\(FlatFile.name(table)).csv")
    try sink.write(CSVText.line(columns.map(\.name)))
    _sink = sink
  }

  func add(_ row: [FlatValue]) throws {
    let fields = row.map { value -> String? in
      switch value {
      case .null: nil
      case .integer(let number): String(number)
      case .real(let number): "\(number)"
      case .text(let text): text
      case .bytes(let data): data.base64EncodedString()
      }
    }
    try _sink?.write(CSVText.line(fields))
  }

  func end() throws {
    try _sink?.finish()
    _sink = nil
  }

  func finish() throws { try _directory.finish() }
}

/// A directory with a file for each table, an object on a line.
final class FlatLines: FlatSink {
  private let _directory: OutputDirectory
  private var _sink: FileSink?
  private var _names: [String] = []

  init(_ directory: OutputDirectory) { _directory = directory }

  func begin(_ table: String, _ columns: [FlatSchema.Column], key: [String]) throws {
    _sink = try _directory.sink("\(FlatFile.name(table)).ndjson")
    _names = columns.map { JSONText.quoted($0.name) }
  }

  func add(_ row: [FlatValue]) throws {
    let members = zip(_names, row).map { name, value in
      let text =
        switch value {
        case .null: "null"
        case .integer(let number): String(number)
        case .real(let number): number.isFinite ? "\(number)" : JSONText.quoted("\(number)")
        case .text(let text): JSONText.quoted(text)
        case .bytes(let data): JSONText.quoted(data.base64EncodedString())
        }
      return "\(name):\(text)"
    }
    try _sink?.write("{\(members.joined(separator: ","))}\n")
  }

  func end() throws {
    try _sink?.finish()
    _sink = nil
  }

  func finish() throws { try _directory.finish() }
}

enum FlatFile {
  /// The table's name as that of a file, of which no two are equal: entities may have any name.
  static func name(_ table: String) -> String {
    let text = table.replacing("%", with: "%25").replacing("/", with: "%2F")
    return text.hasPrefix(".") ? "%2E" + text.dropFirst() : text
  }
}
