import Foundation
import Measuring

/// Measures how costs grow with the work: see `Scripts/benchmark-growth --help`.
@main struct GrowthTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--job", arguments.count == 2 {
      ChildProcess.doJob(arguments[1], GrowthBench.outcome(of:))
    }
    do {
      try _measure(GrowthOptions(arguments))
    } catch let mistake as GrowthOptions.Mistake {
      _write("error: \(mistake)\n")
      exit(64)
    } catch {
      _write("error: \(error)\n")
      exit(70)
    }
  }

  private static func _measure(_ options: GrowthOptions) throws {
    let isTerminal = isatty(STDERR_FILENO) == 1
    let session = GrowthSession(options: options) { text in
      _write(isTerminal ? "\r\u{1B}[K\(text)" : "  \(text)\n")
    }
    let report = try session.run()
    if isTerminal { _write("\r\u{1B}[K") }
    print(report.text, terminator: "")
    guard options.checks, !report.complaints.isEmpty else { return }
    for complaint in report.complaints { _write("error: \(complaint)\n") }
    exit(70)
  }

  private static func _write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
