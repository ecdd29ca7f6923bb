import CoreDataPostgreSQLTools
import CoreDataToolKit
import Foundation

Interruption.installHandlers()
exit(
  PostgreSQLTool.run(Array(CommandLine.arguments.dropFirst()), version: packageVersion, in: .process).rawValue
)
