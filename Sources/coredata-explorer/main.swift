import CoreDataExplorer
import CoreDataToolKit
import Foundation

Interruption.installHandlers()
exit(ExplorerTool.run(ProgramArguments.words, in: .process).rawValue)
