import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit
import CoreDataZlibBinding
import Foundation

/// Loads models for commands: from model files, and from stores, which contain a copy of their model.
package enum ModelInput {
  /// - Throws: `ToolFailure` with the error in the file and its location.
  package static func load(_ path: String) throws(ToolFailure) -> ModelSchema {
    try load(try SpooledInput(path: path))
  }

  /// - Throws: As `load(_:)` of a path.
  static func load(_ input: SpooledInput) throws(ToolFailure) -> ModelSchema {
    do {
      return try read(input.path)
    } catch {
      throw input.naming(failure(error))
    }
  }

  /// - Throws: `ModelFileError`.
  static func read(_ path: String) throws(ModelFileError) -> ModelSchema { try review(path).schema }

  /// Reads a model, and says what of its XML is skipped.
  ///
  /// - Throws: `ModelFileError`.
  static func review(_ path: String) throws(ModelFileError) -> (schema: ModelSchema, remarks: [ModelRemark]) {
    do {
      if _isStore(path) { return (try _storedModel(path), []) }
      let (schema, remarks, _) = try ModelFile.review(path: path)
      return (schema, remarks)
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(path: path, reason: "\(error)")
    }
  }

  /// The file that a model is read from.
  ///
  /// - Throws: `ModelFileError`.
  static func file(_ path: String) throws(ModelFileError) -> String {
    do {
      return try ModelPlaces(path: path).path
    } catch let error as ModelFileError {
      throw error
    } catch {
      throw ModelFileError(path: path, reason: "\(error)")
    }
  }

  /// The failure of a command that could not read its model, with the offending line.
  static func failure(_ error: ModelFileError) -> ToolFailure {
    let isMissing = error.reason == "there is no such file"
    guard let place = ModelErrorPlace(error) else {
      return isMissing
        ? ToolFailure(.noInput, "There is no file '\(error.path)'.") : ToolFailure(.badInput, "\(error).")
    }
    return ToolFailure(
      .badInput,
      "\(error.path):\(place.line):\(place.column): \(error.reason).\(place.excerpt.map { "\n" + $0 } ?? "")")
  }

  // MARK: Stores

  private static func _isStore(_ path: String) -> Bool { DatabaseHead.isDatabase(path) }

  private static func _storedModel(_ path: String) throws -> ModelSchema {
    // Without a write-ahead log the file alone is enough; its directory may be read-only.
    let hasLog = FileManager.default.fileExists(atPath: path + "-wal")
    let content: Binding?
    do {
      let connection = try Connection(path: path, mode: hasLog ? .readOnly : .immutable)
      let isThere = try connection.firstValue(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'Z_MODELCACHE'")
      content = try isThere == nil ? nil : connection.firstValue("SELECT Z_CONTENT FROM Z_MODELCACHE")
    } catch {
      throw ModelFileError(path: path, reason: "this store cannot be read: \(error)")
    }
    guard case .blob(let bytes)? = content else {
      throw ModelFileError(
        path: path, reason: "this SQLite file keeps no model of itself; name the model that it was saved with"
      )
    }
    let archive: [UInt8]
    do {
      archive = try RawDeflate.unpack(bytes, limit: 64 << 20)
    } catch {
      throw ModelFileError(
        path: path, reason: "the model that the store keeps cannot be unpacked: it \(error)")
    }
    return try CompiledModelReader.read(Data(archive), path: path)
  }
}

/// The location of an error in a model file, as exactly as its message allows.
struct ModelErrorPlace {
  let line: Int
  let column: Int
  /// The line with a mark below it; nil if the line is too long to show.
  let excerpt: String?

  /// Nil for an error without a line.
  init?(_ error: ModelFileError) {
    guard let line = error.line else { return nil }
    self.line = line
    let given = max(1, error.column ?? 1)
    guard let data = FileManager.default.contents(atPath: error.path), let text = Self._line(line, of: data)
    else {
      column = given
      excerpt = nil
      return
    }
    let (start, length) = Self._mark(in: text, error.reason) ?? (min(given, text.count + 1), 1)
    column = start
    excerpt = SourceExcerpt.text(line: text, column: start, length: length)
  }

  /// A line of a file, if it can be shown.
  private static func _line(_ number: Int, of data: Data) -> String? {
    let lines = data.split(separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
    guard number <= lines.count, lines[number - 1].count <= 2_000 else { return nil }
    return String(decoding: lines[number - 1], as: UTF8.self)
  }

  /// The value that the message quotes, if the line contains it.
  private static func _mark(in line: String, _ reason: String) -> (column: Int, length: Int)? {
    let quoted = reason.split(separator: "'", omittingEmptySubsequences: false).enumerated()
      .filter { $0.offset % 2 == 1 && !$0.element.isEmpty }.map(\.element)
    for word in quoted {
      for (form, lead) in [("\"\(word)\"", 1), ("<\(word)", 1), (" \(word)=", 1)] {
        guard let found = line.range(of: form) else { continue }
        return (line.distance(from: line.startIndex, to: found.lowerBound) + 1 + lead, word.count)
      }
    }
    return nil
  }
}

/// A line of a file with a mark below it, as in compiler diagnostics.
enum SourceExcerpt {
  static func text(line: String, column: Int, length: Int) -> String {
    let blanks = String(line.prefix(column - 1).map { $0 == "\t" ? "\t" : " " })
    return "\(line)\n\(blanks)^\(String(repeating: "~", count: max(0, length - 1)))"
  }
}
