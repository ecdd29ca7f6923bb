import Foundation

/// Runs the built tool as a user would.
enum ToolProcess {
  /// Built beside the tests, which depend on it.
  static var executable: String {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("coredata").path
  }

  struct Outcome {
    let code: Int32
    let output: String
    let error: String
  }

  /// Runs the tool with some arguments and waits until it ends; `whileRunning` may disturb it.
  static func run(
    _ words: [String], variables: [String: String] = [:], whileRunning: (Process) -> Void = { _ in }
  ) throws -> Outcome {
    let scratch = try ScratchDirectory()
    // Uses files instead of pipes: neither stream can fill up and block the tool.
    let streams = try ["output", "error"].map { name in
      let url = URL(fileURLWithPath: scratch.file(name))
      try Data().write(to: url)
      return try FileHandle(forWritingTo: url)
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.arguments = words
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = streams[0]
    process.standardError = streams[1]
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    try process.run()
    whileRunning(process)
    process.waitUntilExit()
    return Outcome(
      code: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
      output: try String(contentsOfFile: scratch.file("output"), encoding: .utf8),
      error: try String(contentsOfFile: scratch.file("error"), encoding: .utf8))
  }
}
