import CoreDataModelTools
import CoreDataStackShootout
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

let tool = CommandLineTool.coredata([.store, .model, .explore, .postgres, .shootout(), .trace])
Interruption.installHandlers()
exit(tool.run(ProgramArguments.words, in: .process).rawValue)
