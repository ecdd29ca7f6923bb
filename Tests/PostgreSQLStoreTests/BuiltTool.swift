import Foundation
import PostgreSQLServer

/// The built `coredata`, with a directory for what it writes. Used by one test at a time.
final class BuiltTool {
  /// Removed with the tool; also the temporary directory of its processes.
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Starts the tool, whose output and errors replace those of the process before.
  ///
  /// - Parameter input: What it reads on standard input.
  func start(_ arguments: [String], input: String? = nil) throws -> Process {
    let process = Process()
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let tool = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent("coredata")
    // Shells start background jobs with SIGINT ignored, which the tool would respect.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["--default-signal=INT", tool.path] + arguments
    process.environment = ["PATH": "", "TMPDIR": directory.path]
    for name in ["output", "error"] { try Data().write(to: directory.appendingPathComponent(name)) }
    process.standardOutput = try FileHandle(forWritingTo: directory.appendingPathComponent("output"))
    process.standardError = try FileHandle(forWritingTo: directory.appendingPathComponent("error"))
    if let input {
      let file = directory.appendingPathComponent("input")
      try Data(input.utf8).write(to: file)
      process.standardInput = try FileHandle(forReadingFrom: file)
    }
    try process.run()
    return process
  }

  /// What the last process has said, by `output` or `error`.
  func said(_ name: String) throws -> String {
    try String(contentsOf: directory.appendingPathComponent(name), encoding: .utf8)
  }

  func run(
    _ arguments: [String], input: String? = nil
  ) throws -> (code: Int32, output: String, error: String) {
    let process = try start(arguments, input: input)
    process.waitUntilExit()
    return (process.terminationStatus, try said("output"), try said("error"))
  }
}

extension URL {
  /// The URL of a test's store with a password, which the server does not require.
  var withPassword: String { absoluteString.replacing("coredata@", with: "coredata:s3cret@") }
}
