import CoreDataExplorer
import CoreDataToolKit
import Foundation

Interruption.installHandlers()
exit(
  ExplorerTool.run(Array(CommandLine.arguments.dropFirst()), version: packageVersion, in: .process).rawValue)
