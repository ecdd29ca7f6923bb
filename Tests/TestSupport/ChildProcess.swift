import Foundation

/// A program that a test runs. Its streams are files, so that neither fills up and blocks it.
///
///     let outcome = try ChildProcess.run(ChildProcess.built("coredata"), ["store", "info", path])
///     #expect(outcome.code == 0)
///
/// Used by one thread at a time. Removes its files with itself.
package final class ChildProcess {
  package struct Outcome {
    /// The exit code, or the negative number of the signal that ended the process.
    package let code: Int32
    package let output: String
    package let error: String
  }

  /// For its number and for signals.
  package let process = Process()
  private let _streams: URL

  /// - Parameters:
  ///   - program: A path, or the name of a command on the search path.
  ///   - directory: The working directory; this process's without it.
  ///   - environment: All its variables; this process's without it.
  ///   - variables: Variables beside those.
  ///   - input: What it reads on standard input.
  package init(
    _ program: String, _ arguments: [String] = [], in directory: URL? = nil,
    environment: [String: String]? = nil, adding variables: [String: String] = [:], input: Data? = nil
  ) throws {
    _streams = try TemporaryPlace.makeDirectory()
    let isPath = program.contains("/")
    process.executableURL = URL(fileURLWithPath: isPath ? program : "/usr/bin/env")
    process.arguments = (isPath ? [] : [program]) + arguments
    if let directory { process.currentDirectoryURL = directory }
    process.environment = (environment ?? ProcessInfo.processInfo.environment).merging(variables) { $1 }
    process.standardInput = FileHandle.nullDevice
    if let input {
      try input.write(to: _file("input"))
      process.standardInput = try FileHandle(forReadingFrom: _file("input"))
    }
    for name in ["output", "error"] { try Data().write(to: _file(name)) }
    process.standardOutput = try FileHandle(forWritingTo: _file("output"))
    process.standardError = try FileHandle(forWritingTo: _file("error"))
  }

  deinit { try? FileManager.default.removeItem(at: _streams) }

  package func start() throws { try process.run() }

  /// Waits until it ends.
  package func wait() throws -> Outcome {
    process.waitUntilExit()
    let (status, isExit) = (process.terminationStatus, process.terminationReason == .exit)
    return Outcome(code: isExit ? status : -status, output: try output(), error: try error())
  }

  /// What it has written to standard output.
  package func output() throws -> String { try String(contentsOf: _file("output"), encoding: .utf8) }

  /// The same as bytes.
  package func outputBytes() throws -> Data { try Data(contentsOf: _file("output")) }

  /// What it has written to standard error.
  package func error() throws -> String { try String(contentsOf: _file("error"), encoding: .utf8) }

  private func _file(_ name: String) -> URL { _streams.appendingPathComponent(name) }

  /// Runs a program and waits until it ends. The parameters are the initializer's.
  package static func run(
    _ program: String, _ arguments: [String] = [], in directory: URL? = nil,
    environment: [String: String]? = nil, adding variables: [String: String] = [:], input: Data? = nil
  ) throws -> Outcome {
    let child = try ChildProcess(
      program, arguments, in: directory, environment: environment, adding: variables, input: input)
    try child.start()
    return try child.wait()
  }

  /// The path of a product, built beside the tests if they depend on it.
  package static func built(_ name: String) -> String {
    let tests = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
  }
}
