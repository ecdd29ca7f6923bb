import Foundation
import Measuring

/// Measures what a store of many rows costs: see `Scripts/benchmark rows --help`.
@main struct RowsTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--job", arguments.count == 2 {
      ChildProcess.doJob(arguments[1]) { (job: RowsJob) in RowsRun(job: job).outcome() }
    }
    MeasuringTool.run { try _measure(RowsOptions(arguments)) }
  }

  private static func _measure(_ options: RowsOptions) throws {
    let session = RowsSession(options: options) { MeasuringTool.progress($0) }
    let report = try session.run()
    MeasuringTool.endProgress()
    print(report.text, terminator: "")
    if options.checksMemory { MeasuringTool.fail(report.complaints) }
  }
}
