// What a server lives through, in a process of its own, since it measures what the whole process holds.
//
//   server SECONDS   units of work on eight threads, with a context each; contents, history and live bytes
//   are checked leaks CONTEXTS   contexts, and a tenth as many actors and containers, after an equal warm-up
//   rows ROWS        a deletion by a predicate, and what it takes for each row
//
// Says on standard error what it measured; ends with 1 if something is wrong.

import CoreDataLoadTrials
import Foundation

Live.prepare()

/// Says a line at once.
func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

let arguments = CommandLine.arguments
guard arguments.count == 3, let number = Int(arguments[2]), number > 0 else {
  say("usage: swiftdata-soak server SECONDS | leaks CONTEXTS | rows ROWS")
  exit(64)
}
let place = FileManager.default.temporaryDirectory.appendingPathComponent(
  "swiftdata-soak-\(getpid())", isDirectory: true)
try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
var faults: [String] = []
do {
  switch arguments[1] {
  case "server": faults = try ServerTrial(in: place, seconds: number).run()
  case "leaks": faults = try await LeakTrial(in: place, contexts: number).run()
  case "rows": faults = try RowTrial(in: place, rows: number).run()
  default: faults = ["there is no '\(arguments[1])'"]
  }
} catch {
  faults = ["\(error)"]
}
try? FileManager.default.removeItem(at: place)
for fault in faults { say("error: \(fault)") }
exit(faults.isEmpty ? 0 : 1)
