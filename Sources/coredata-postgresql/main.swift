import CoreDataPostgreSQLTools
import CoreDataToolKit
import Foundation

Interruption.installHandlers()
exit(PostgreSQLTool.run(ProgramArguments.words, in: .process).rawValue)
