import CoreData
import CoreDataModelTools
import CoreDataPostgreSQL
import CoreDataStackShootout
import CoreDataToolKit
import Foundation

/// The command line of `coredata-postgresql`.
package enum PostgreSQLTool {
  /// `coredata postgres`.
  package static let command = PostgreSQLSyntax.command(_implementation)
  /// `coredata shootout`, also with stores on a server.
  package static let shootout = Command.shootout { try PostgreSQLSchemas($0) }

  package static func run(_ words: [String], in environment: ToolEnvironment) -> ExitCode {
    // The first argument is 'postgres' if 'coredata postgres' passes its arguments on; a direct start has
    // none.
    let isDirect = words.first.map {
      ![PostgreSQLSyntax.name, "shootout"].contains($0) && !$0.hasPrefix("-")
    }
    let tool = CommandLineTool(
      name: CompanionProgram.postgreSQL.name, summary: "Stores in PostgreSQL databases.",
      commands: [command, shootout])
    return tool.run(isDirect ?? false ? [PostgreSQLSyntax.name] + words : words, in: environment)
  }

  private static func _implementation(of name: PostgreSQLSyntax.Name) -> PostgreSQLSyntax.Run {
    switch name {
    case .schema: { try _printSchema($0, $1) }
    case .status: { try printStatus($0, $1) }
    case .check: { try check($0, $1) }
    case .migrate: { try migrate($0, $1) }
    case .tidy: { try tidy($0, $1) }
    case .copy: { try _copy($0, $1) }
    }
  }

  /// Reads a store's URL from standard input.
  static func readURL() throws -> (text: String, url: URL) {
    let text = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard ServerStore.isURL(text), let url = URL(string: text) else {
      throw ToolFailure(
        .usage, "Standard input has no URL of a store: postgresql://user@host/database?schema=name.")
    }
    return (text, url)
  }

  private static func _copy(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let path = arguments.operands[0]
    let (text, url) = try readURL()
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ToolFailure(.cannotCreateOutput, "There is already something at '\(path)'. Name a new file.")
    }
    let keys = arguments.text("keys")
    if let keys, FileManager.default.fileExists(atPath: keys) {
      throw ToolFailure(.cannotCreateOutput, "There is already something at '\(keys)'. Name a new file.")
    }
    do {
      guard let keys else { return try PostgreSQLStoreCopy.copy(url, to: path) }
      try CopiedKeys.of(nil) { try PostgreSQLStoreCopy.copy(url, to: path) }.write(to: keys)
    } catch let error as CocoaError {
      throw ToolFailure(
        code(error), "'\(ServerStore.name(text))' cannot be copied: \(error.debugText)")
    }
  }

  static func code(_ error: CocoaError) -> ExitCode {
    switch error.errorCode {
    case NSPersistentStoreOpenError: .noInput
    case NSPersistentStoreTimeoutError: .temporaryFailure
    case 512...642: .cannotCreateOutput
    default: .badInput
    }
  }

  private static func _printSchema(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let path = arguments.operands[0]
    let schema = try ModelInput.load(path)
    let script: PostgreSQLScript
    do {
      script = try PostgreSQLScript(
        try StoreFileFacts.managedObjectModel(schema), schema: arguments.text("schema") ?? "coredata",
        role: arguments.text("role") ?? "app", usesICU: !arguments.has("without-icu"))
    } catch {
      throw ToolFailure(
        .badInput, "'\(path)' cannot be laid out in PostgreSQL: \(error.debugText)")
    }
    try environment.output(script.text)
  }
}
