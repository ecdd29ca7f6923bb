import Foundation

/// Measures the engine beside SQLite's C API: see `Scripts/benchmark --help`.
@main struct BenchmarkTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--job", arguments.count >= 2 {
      ChildProcess.doJob(arguments[1]) { (job: Job) in JobRun(job).run() }
    }
    MeasuringTool.run {
      let options = try Options(arguments)
      try _measure(options)
    }
  }

  private static func _measure(_ options: Options) throws {
    let session = try Session(options) { MeasuringTool.progress($0, onTerminalOnly: true) }
    let report = try session.run()
    MeasuringTool.endProgress()
    let document = Document(report)
    let before = options.resultsDirectory.flatMap { document.last(in: $0) }
    print(options.isJSON ? try document.json() : Table(report: report).text)
    let plot = Plot(now: document, before: before).svg
    if let path = options.plotPath { try plot.write(toFile: path, atomically: true, encoding: .utf8) }
    guard let directory = options.recordDirectory else { return }
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let name = document.name
    try document.json().write(toFile: "\(directory)/\(name).json", atomically: true, encoding: .utf8)
    try plot.write(toFile: "\(directory)/\(name).svg", atomically: true, encoding: .utf8)
    MeasuringTool.say("Kept as \(directory)/\(name).json")
  }
}
