import Foundation
import Measuring

/// Measures what a store of many rows costs: see `Scripts/benchmark-rows --help`.
@main struct RowsTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--job", arguments.count == 2 {
      ChildProcess.doJob(arguments[1]) { (job: RowsJob) in RowsRun(job: job).outcome() }
    }
    do {
      try _measure(RowsOptions(arguments))
    } catch let mistake as RowsOptions.Mistake {
      _write("error: \(mistake)\n")
      exit(64)
    } catch {
      _write("error: \(error)\n")
      exit(70)
    }
  }

  private static func _measure(_ options: RowsOptions) throws {
    let isTerminal = isatty(STDERR_FILENO) == 1
    let session = RowsSession(options: options) { text in
      _write(isTerminal ? "\r\u{1B}[K\(text)" : "  \(text)\n")
    }
    let report = try session.run()
    if isTerminal { _write("\r\u{1B}[K") }
    print(report.text, terminator: "")
    guard options.checksMemory, !report.complaints.isEmpty else { return }
    for complaint in report.complaints { _write("error: \(complaint)\n") }
    exit(70)
  }

  private static func _write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
