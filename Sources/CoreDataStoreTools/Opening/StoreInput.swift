import CoreData
import CoreDataModelSchema
import CoreDataSQLiteBinding
import CoreDataToolKit
import Foundation

/// A store that a command was given, opened read-only.
package struct StoreInput {
  /// The file to open: of a stream a copy, which lives as long as this value.
  package let path: String
  /// The store's name in messages.
  package let name: String
  private let _file: SpooledInput
  package let metadata: [String: Any]
  package let model: StoreModel
  /// Whether it is a copy of a store on a server.
  package var isServerCopy: Bool { _file.isServerStore }

  /// Examines the file, reads its metadata and finds its model.
  ///
  /// - Throws: `ToolFailure` with the problem and a remedy.
  package init(_ path: String, model modelPath: String?, _ environment: ToolEnvironment) throws(ToolFailure) {
    try self.init(try SpooledInput(path: path), model: modelPath, environment)
  }

  /// As `init(_:model:_:)` with a path.
  init(_ file: SpooledInput, model modelPath: String?, _ environment: ToolEnvironment) throws(ToolFailure) {
    (_file, path, name) = (file, file.path, file.name)
    do throws(ToolFailure) {
      try FileExamination.expectDatabase(path)
      metadata = try Self._metadata(path)
      model =
        if let modelPath { try StoreModel.load(modelPath, for: metadata) } else {
          try StoreModel.inside(path)
        }
    } catch {
      throw file.naming(error)
    }
    if let differences = model.differences {
      environment.error(
        "warning: '\(name)' was written with another version of this model (\(differences)); read as far as it fits.\n"
      )
    }
  }

  private static func _metadata(_ path: String) throws(ToolFailure) -> [String: Any] {
    do {
      return try StoreFileFacts.metadata(path: path)
    } catch {
      throw failure(error, path)
    }
  }

  init(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws(ToolFailure) {
    try self.init(arguments.operands[0], model: arguments.text("model"), environment)
  }

  /// Opens the rows.
  package func reader() throws(ToolFailure) -> StoreReader {
    do {
      return try StoreReader(path: path, model: model.schema)
    } catch {
      throw Self.failure(error, path)
    }
  }

  /// Runs `body` with the rows, and translates its errors to a sentence and a code.
  func reading(_ body: (StoreReader) throws -> Void) throws {
    let reader = try reader()
    defer { reader.close() }
    do {
      try Self.translating(path) { try body(reader) }
    } catch let failure as ToolFailure {
      throw _file.naming(failure)
    }
  }

  static func translating<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as ToolFailure {
      throw error
    } catch let error as UsageError {
      throw error
    } catch let error as NSPredicate.FormatError {
      throw ToolFailure(.usage, "The predicate cannot be understood: \(error.description)")
    } catch {
      throw failure(error, path)
    }
  }

  /// An error of the engine as a message for the terminal.
  package static func failure(_ error: any Error, _ path: String) -> ToolFailure {
    if let failure = error as? ToolFailure { return failure }
    if let error = error as? SQLiteError {
      return error.isBusy
        ? ToolFailure(
          .temporaryFailure, "'\(path)' is locked by another program. Try again when that has finished.")
        : ToolFailure(
          .badInput, "'\(path)' cannot be read: \(error.message). 'coredata store check' says more.")
    }
    guard let error = error as? CocoaError else {
      return ToolFailure(.badInput, "'\(path)' cannot be read: \(error)")
    }
    let message = error.debugText
    switch error.errorCode {
    case 260: return ToolFailure(.noInput, _sentence(message))
    case 134090:
      return ToolFailure(
        .temporaryFailure, "'\(path)' is locked by another program. Try again when that has finished.")
    case 134010:
      return ToolFailure(.badInput, "\(_sentence(message)) \(_tables(path))")
    case 134020:
      return ToolFailure(
        .badInput, "\(_sentence(message)) Give the model that it was written with: '--model FILE'.")
    // An invalid request from the command line, such as an unknown property in a predicate.
    case NSCoreDataError: return ToolFailure(.usage, _sentence(message))
    default: return ToolFailure(.badInput, _sentence(message))
    }
  }

  private static func _sentence(_ message: String) -> String {
    let first = message.first.map { $0.uppercased() } ?? ""
    let isPath = message.hasPrefix("/")
    let text = isPath ? message : first + message.dropFirst()
    // An error may end with a suggestion, which is a question.
    return text.hasSuffix(".") || text.hasSuffix("?") ? text : text + "."
  }

  /// Describes the contents of a database that is not a store.
  private static func _tables(_ path: String) -> String {
    var names: [String] = []
    try? StoreFileFacts.open(path: path).query(
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 6"
    ) { names.append($0.string(0)) }
    return names.isEmpty
      ? "There are no tables in it."
      : "Its tables are \(names.prefix(5).joined(separator: ", "))"
        + (names.count > 5 ? " and others." : ".")
  }
}

extension ModelLayout {
  /// The entity of this name.
  ///
  /// - Throws: `ToolFailure` with a suggestion.
  func entity(named name: String) throws(ToolFailure) -> PropertyLayout {
    if let layout = layoutsByName[name] { return layout }
    let names = layouts.map(\.entityName)
    throw ToolFailure(
      .usage,
      "The model has no entity '\(name)'."
        + SpellingSuggestion.question(
          about: name, among: names, or: " It has \(names.joined(separator: ", "))."))
  }
}
