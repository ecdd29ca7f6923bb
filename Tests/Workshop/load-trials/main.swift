import CoreDataLoadTrials
import CoreDataToolKit
import Foundation

let tool = CommandLineTool(
  name: "load-trials", version: "1",
  summary: "Loads the engine with many at once, and measures what it does.",
  commands: Command.load())
exit(tool.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
