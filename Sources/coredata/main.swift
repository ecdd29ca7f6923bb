import Foundation
import ModelTools
import StackShootout
import ToolKit

let tool = CommandLineTool(
  name: "coredata", version: "0.1.0", summary: "Core Data on the command line.", commands: [.model, .shootout]
).withCompletion()
exit(tool.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
