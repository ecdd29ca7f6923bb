import CoreDataToolKit

extension Command {
  /// `coredata postgres`: runs `coredata-postgresql`, a separate program, so that this one does not need libpq.
  package static let postgres = PostgreSQLSyntax.command(schema: { _, environment in
    try CompanionProgram.postgreSQL.exec(Array(CommandLine.arguments.dropFirst()), environment)
  })
}
