import CoreDataModelTools
import CoreDataStackShootout
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

let tool = CommandLineTool(
  name: "coredata", version: packageVersion, summary: "Core Data on the command line.",
  examples: [
    "coredata store info Books.sqlite", "coredata model show Books.xcdatamodeld", "coredata shootout",
  ],
  commands: [.store, .model, .explore, .postgres, .shootout()]
).withCompletion()
Interruption.installHandlers()
exit(tool.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
