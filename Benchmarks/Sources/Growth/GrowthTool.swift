import Foundation
import Measuring

/// Measures how costs grow with the work: see `Scripts/benchmark growth --help`.
@main struct GrowthTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--job", arguments.count == 2 {
      ChildProcess.doJob(arguments[1], GrowthBench.outcome(of:))
    }
    MeasuringTool.run { try _measure(GrowthOptions(arguments)) }
  }

  private static func _measure(_ options: GrowthOptions) throws {
    let session = GrowthSession(options: options) { MeasuringTool.progress($0) }
    let report = session.run()
    MeasuringTool.endProgress()
    print(report.text, terminator: "")
    MeasuringTool.fail(report.failures + (options.checks ? report.complaints : []))
  }
}
