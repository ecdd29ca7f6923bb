import CoreDataToolKit
import Foundation

/// The parent's side: starts a child for a job and waits for its result.
struct WorkerLauncher: Sendable {
  /// The tool itself.
  let executable: String
  /// Environment variables of the child, in addition to those of this process.
  var variables: [String: String] = [:]

  /// This program, located independently of `argv[0]`.
  static var current: WorkerLauncher {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return WorkerLauncher(executable: path ?? CommandLine.arguments.first ?? "coredata")
  }

  init(executable: String, variables: [String: String] = [:]) {
    (self.executable, self.variables) = (executable, variables)
  }

  /// Another build of the tool.
  ///
  /// - Throws: `ToolFailure` if it is no program.
  init(build path: String) throws(ToolFailure) {
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw ToolFailure(.noInput, "'\(path)' is no program: give the 'coredata' of another build.")
    }
    self.init(executable: URL(fileURLWithPath: path).path)
  }

  /// Runs a job in a separate process.
  ///
  /// - Throws: `ToolFailure` with `internalError` if the child failed, crashed or created an incorrect store.
  func run(_ job: WorkerJob, progress: (Int) -> Void) throws -> RunMeasurement {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: executable)
    process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
    process.arguments = ["shootout", "--worker", try job.argument()]
    // Never written to: when it closes, the child knows that this process has ended.
    let input = Pipe()
    let output = Pipe()
    process.standardInput = input
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      throw ToolFailure(.internalError, "Cannot start '\(executable)': \(error.localizedDescription)")
    }
    defer { try? input.fileHandleForWriting.close() }
    RunningWorker.record(process.processIdentifier)
    var result: WorkerMessage?
    var buffer = Data()
    while true {
      let chunk = output.fileHandleForReading.availableData
      if chunk.isEmpty { break }
      buffer += chunk
      while let end = buffer.firstIndex(of: 0x0A) {
        let message = try? JSONDecoder().decode(WorkerMessage.self, from: buffer[buffer.startIndex..<end])
        buffer = Data(buffer[(end + 1)...])
        if case .progress(let count) = message { progress(count) } else if let message { result = message }
      }
    }
    process.waitUntilExit()
    RunningWorker.record(nil)
    switch result {
    case .finished(let measurement) where process.terminationStatus == 0:
      return measurement
    case .failed(let reason):
      throw ToolFailure(.internalError, "The run of '\(job.subject.name)' failed: \(reason)")
    default:
      let end = process.terminationReason == .uncaughtSignal ? "signal" : "exit code"
      throw ToolFailure(
        .internalError,
        "The process that ran '\(job.subject.name)' ended without a result "
          + "(\(end) \(process.terminationStatus)).")
    }
  }
}
