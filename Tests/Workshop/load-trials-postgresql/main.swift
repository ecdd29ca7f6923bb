import CoreDataLoadTrials
import CoreDataPostgreSQL
import CoreDataToolKit
import Foundation

// The load trials with the scenarios on a server. A program of its own, so that the others need no libpq.
let tool = CommandLineTool(
  name: "load-trials-postgresql", version: "1",
  summary: "Loads the engine with many at once, also on a PostgreSQL server, and measures what it does.",
  commands: Command.load { LoadStore($0, type: NSPostgreSQLStoreType) })
exit(tool.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
