import CoreDataToolKit

extension Command {
  /// `coredata postgres`: runs `coredata-postgresql`, a separate program, so that this one does not depend on
  /// libpq.
  package static let postgres = PostgreSQLSyntax.command { _ in _exec }

  @Sendable private static func _exec(_: ParsedArguments, _ environment: ToolEnvironment) throws {
    try CompanionProgram.postgreSQL.exec(ProgramArguments.words, environment)
  }
}
