import Foundation

/// What a process says at its end.
package enum JobOutcome<Measurement: Codable>: Codable {
  case finished(Measurement)
  case failed(String)
}

extension JobOutcome: Sendable where Measurement: Sendable {}

/// Processes of this program, each of which does one job and says what it measured.
package enum ChildProcess {
  package struct Failure: Error, CustomStringConvertible { package let description: String }

  /// This very program.
  private static let _program =
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]

  /// Runs a job in a separate process of this program.
  ///
  /// - Parameters:
  ///   - what: Names the job in errors.
  ///   - prefix: A command that is given the program and its arguments.
  package static func measurement<Measurement: Codable>(
    of job: some Encodable, _ what: String, with prefix: [String] = [], environment: [String: String] = [:]
  ) throws -> (measurement: Measurement, errors: String) {
    let argument = String(decoding: try JSONEncoder().encode(job), as: UTF8.self)
    let result = try start(prefix + [_program, "--job", argument], environment)
    let decoder = JSONDecoder()
    guard let outcome = try? decoder.decode(JobOutcome<Measurement>.self, from: Data(result.output.utf8))
    else {
      throw Failure(
        description:
          "The process for \(what) ended with status \(result.status) and no result.\n\(result.errors)")
    }
    switch outcome {
    case .finished(let measurement): return (measurement, result.errors)
    case .failed(let reason): throw Failure(description: "\(what) failed: \(reason)")
    }
  }

  /// Does a job in this process, says what came of it, and ends the process.
  package static func doJob<Job: Decodable, Measurement: Codable>(
    _ argument: String, _ run: (Job) -> JobOutcome<Measurement>
  ) -> Never {
    guard let job = try? JSONDecoder().decode(Job.self, from: Data(argument.utf8)) else {
      FileHandle.standardError.write(Data("error: '--job' is for the benchmark's own use.\n".utf8))
      exit(64)
    }
    end(run(job))
  }

  /// Says what came of this process's job, and ends the process.
  package static func end<Measurement: Codable>(_ outcome: JobOutcome<Measurement>) -> Never {
    FileHandle.standardOutput.write((try? JSONEncoder().encode(outcome)) ?? Data())
    exit(0)
  }

  /// Runs a command that `env` finds, and waits for its end.
  package static func start(
    _ command: [String], _ environment: [String: String] = [:]
  ) throws -> (status: Int32, output: String, errors: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    process.standardOutput = output
    // A file: with two pipes the one not read could fill up.
    let errors = FileManager.default.temporaryDirectory.appendingPathComponent(
      "benchmark-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: errors) }
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
    return (process.terminationStatus, String(decoding: said, as: UTF8.self), text)
  }
}
