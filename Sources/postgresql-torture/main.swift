import CoreData
import Foundation

// Savers for Scripts/torture-postgresql.

let arguments = CommandLine.arguments
func usage() -> Never {
  print("usage: postgresql-torture prepare URL | save URL POLICY COUNT NAME | list URL | leave URL")
  exit(64)
}
guard arguments.count >= 3, let url = URL(string: arguments[2]) else { usage() }
do {
  let saver = try Saver(url: url, policy: arguments.count > 3 ? arguments[3] : "error")
  switch arguments[1] {
  case "prepare": try saver.prepare()
  case "save" where arguments.count == 6: saver.run(Int(arguments[4]) ?? 0, name: arguments[5])
  case "list": try saver.list()
  // Ends while threads connect.
  case "leave":
    for _ in 0..<4 {
      Thread.detachNewThread { while true { _ = try? Saver(url: url, policy: "error") } }
    }
    usleep(.random(in: 0..<30_000))
    exit(0)
  default: usage()
  }
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(70)
}
