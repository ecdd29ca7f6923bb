import CoreData
import CoreDataModelTools
import CoreDataPostgreSQL
import CoreDataToolKit
import Foundation

/// The command line of `coredata-postgresql`.
package enum PostgreSQLTool {
  package static func run(_ words: [String], version: String, in environment: ToolEnvironment) -> ExitCode {
    // With 'postgres' when 'coredata postgres' passes its arguments on, without it when started directly.
    let isDirect =
      words.first != PostgreSQLSyntax.name && words.first.map { !$0.hasPrefix("-") } ?? false
    let tool = CommandLineTool(
      name: CompanionProgram.postgreSQL.name, version: version, summary: "Stores in PostgreSQL databases.",
      commands: [PostgreSQLSyntax.command(schema: { try _printSchema($0, $1) })])
    return tool.run(isDirect ? [PostgreSQLSyntax.name] + words : words, in: environment)
  }

  private static func _printSchema(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let path = arguments.operands[0]
    let schema = try ModelInput.load(path)
    let script: PostgreSQLScript
    do {
      script = try PostgreSQLScript(
        NSManagedObjectModel(schema: schema), schema: arguments.text("schema") ?? "coredata",
        role: arguments.text("role") ?? "app")
    } catch {
      throw ToolFailure(
        .badInput, "'\(path)' cannot be laid out in PostgreSQL: \(error.localizedDescription)")
    }
    try environment.output(script.text)
  }
}
