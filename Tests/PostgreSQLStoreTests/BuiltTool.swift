import Foundation
import PostgreSQLServer
import TestSupport

/// The built `coredata`, with a directory for what it writes. Used by one test at a time.
final class BuiltTool {
  /// Removed with the tool; also the temporary directory of its processes.
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("tool-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: directory) }

  /// Starts the tool.
  ///
  /// - Parameter input: What it reads on standard input.
  func start(_ arguments: [String], input: String? = nil) throws -> ChildProcess {
    // Shells start background jobs with SIGINT ignored, which the tool would respect.
    let tool = try ChildProcess(
      "/usr/bin/env", ["--default-signal=INT", ChildProcess.built("coredata")] + arguments,
      environment: ["PATH": "", "TMPDIR": directory.path], input: input.map { Data($0.utf8) })
    try tool.start()
    return tool
  }

  func run(_ arguments: [String], input: String? = nil) throws -> ChildProcess.Outcome {
    try start(arguments, input: input).wait()
  }
}

extension URL {
  /// The URL of a test's store with a password, which the server does not require.
  var withPassword: String { absoluteString.replacing("coredata@", with: "coredata:s3cret@") }
}
