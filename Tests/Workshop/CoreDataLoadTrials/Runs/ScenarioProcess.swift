import CoreDataToolKit
import Foundation

/// Runs a scenario in a process of its own, since it measures what the whole process holds.
struct ScenarioProcess: Sendable {
  /// The option with which this program runs a scenario in its process.
  static let option = "in-process"

  let scenario: ScenarioName
  let seconds: Int
  /// Where its store is made.
  let directory: String

  /// This program, located independently of `argv[0]`.
  static var program: URL {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return URL(fileURLWithPath: path ?? CommandLine.arguments[0])
  }

  /// Runs the scenario and waits for its end. What it says on standard error appears on this process's.
  ///
  /// - Throws: `ToolFailure` with `internalError` if the process ended without a result.
  func run() throws -> ScenarioResult {
    let process = Process()
    process.executableURL = Self.program
    process.arguments = ["run", "--\(Self.option)", directory, "--seconds", "\(seconds)", scenario.rawValue]
    // Freed memory that the C library keeps for a thread would count as live, and there are many threads.
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"]) { $1 }
    let output = Pipe()
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      throw ToolFailure(.internalError, "Cannot start '\(Self.program.path)': \(error.localizedDescription)")
    }
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0,
      let result = try? JSONDecoder().decode(ScenarioResult.self, from: said)
    else {
      let end = process.terminationReason == .uncaughtSignal ? "signal" : "exit code"
      throw ToolFailure(
        .internalError,
        "The process that ran '\(scenario.rawValue)' ended without a result (\(end) \(process.terminationStatus)); "
          + "see above."
      )
    }
    return result
  }
}
