import CoreData
import Foundation

// Savers and clients for Scripts/stress torture-postgresql.

let arguments = CommandLine.arguments
func usage() -> Never {
  print(
    """
    usage: postgresql-torture prepare URL | save URL POLICY COUNT NAME | list URL | leave URL
           postgresql-torture begin URL | work URL NAME VERSION SECONDS | watch URL NAME SECONDS |
           postgresql-torture judge URL LOST FILE... | now
    """)
  exit(64)
}
if arguments.count == 2, arguments[1] == "now" {
  print(HistoryEvent.now)
  exit(0)
}
guard arguments.count >= 3, let url = URL(string: arguments[2]) else { usage() }
do {
  switch arguments[1] {
  case "begin": try HistoryClient(url: url, version: 1, name: "begin").prepare()
  case "work" where arguments.count == 6:
    let end = HistoryEvent.now + UInt64((Double(arguments[5]) ?? 0) * 1e9)
    try HistoryClient(url: url, version: Int(arguments[4]) ?? 1, name: arguments[3]).run(until: end)
  case "watch" where arguments.count == 5:
    let end = HistoryEvent.now + UInt64((Double(arguments[4]) ?? 0) * 1e9)
    try HistoryClient(url: url, version: 1, name: arguments[3]).watch(until: end)
  case "judge" where arguments.count > 4:
    let content = try HistoryClient(url: url, version: 2, name: "judge").content()
    let text = try arguments.dropFirst(4).map { try String(contentsOfFile: $0, encoding: .utf8) }
    let judge = HistoryJudge(
      text.flatMap { $0.split(separator: "\n") }, content, lost: UInt64(arguments[3]) ?? 0)
    print(judge.summary)
    for finding in judge.findings.prefix(20) { print("  \(finding)") }
    if judge.findings.count > 20 { print("  and \(judge.findings.count - 20) more") }
    exit(judge.findings.isEmpty ? 0 : 1)
  // Ends while threads connect.
  case "leave":
    for _ in 0..<4 {
      Thread.detachNewThread { while true { _ = try? Saver(url: url, policy: "error") } }
    }
    usleep(.random(in: 0..<30_000))
    exit(0)
  default:
    let saver = try Saver(url: url, policy: arguments.count > 3 ? arguments[3] : "error")
    switch arguments[1] {
    case "prepare": try saver.prepare()
    case "save" where arguments.count == 6: saver.run(Int(arguments[4]) ?? 0, name: arguments[5])
    case "list": try saver.list()
    default: usage()
    }
  }
} catch {
  FileHandle.standardError.write(Data("error: \(error)\n".utf8))
  exit(70)
}
