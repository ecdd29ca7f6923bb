import CoreDataExplorer
import CoreDataModelTools
import CoreDataPostgreSQLTools
import CoreDataStackShootout
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

// Installed as 'coredata', and its own companion: see docs/decisions/0028-one-executable.md.
CompanionProgram.areInThisProgram()
let tool = CommandLineTool.coredata([
  .store, .model, ExplorerTool.command, PostgreSQLTool.command, PostgreSQLTool.shootout, .trace,
])
Interruption.installHandlers()
exit(tool.run(ProgramArguments.words, in: .process).rawValue)
