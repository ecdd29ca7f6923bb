import CoreData
import CoreDataModelTools
import CoreDataPostgreSQL
import CoreDataStackShootout
import CoreDataToolKit
import Foundation

/// The command line of `coredata-postgresql`.
package enum PostgreSQLTool {
  package static func run(_ words: [String], version: String, in environment: ToolEnvironment) -> ExitCode {
    // The first argument is 'postgres' if 'coredata postgres' passes its arguments on; a direct start has
    // none.
    let isDirect = words.first.map {
      ![PostgreSQLSyntax.name, "shootout"].contains($0) && !$0.hasPrefix("-")
    }
    let tool = CommandLineTool(
      name: CompanionProgram.postgreSQL.name, version: version, summary: "Stores in PostgreSQL databases.",
      commands: [
        PostgreSQLSyntax.command(schema: { try _printSchema($0, $1) }, copy: { try _copy($0, $1) }),
        .shootout { try PostgreSQLSchemas($0) },
      ])
    return tool.run(isDirect ?? false ? [PostgreSQLSyntax.name] + words : words, in: environment)
  }

  private static func _copy(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let path = arguments.operands[0]
    let text = String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
      .trimmingCharacters(in: .whitespacesAndNewlines)
    guard ServerStore.isURL(text), let url = URL(string: text) else {
      throw ToolFailure(
        .usage, "Standard input has no URL of a store: postgresql://user@host/database?schema=name.")
    }
    guard !FileManager.default.fileExists(atPath: path) else {
      throw ToolFailure(.cannotCreateOutput, "There is already something at '\(path)'. Name a new file.")
    }
    do {
      try PostgreSQLStoreCopy.copy(url, to: path)
    } catch let error as CocoaError {
      throw ToolFailure(
        _code(error), "'\(ServerStore.name(text))' cannot be copied: \(error.localizedDescription)")
    }
  }

  private static func _code(_ error: CocoaError) -> ExitCode {
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
        NSManagedObjectModel(schema: schema), schema: arguments.text("schema") ?? "coredata",
        role: arguments.text("role") ?? "app", usesICU: !arguments.has("without-icu"))
    } catch {
      throw ToolFailure(
        .badInput, "'\(path)' cannot be laid out in PostgreSQL: \(error.localizedDescription)")
    }
    try environment.output(script.text)
  }
}
