import Foundation

/// Starts a process for each job and takes what it says.
struct Launcher {
  struct Failure: Error, CustomStringConvertible { let description: String }

  /// This very program.
  private static let _program =
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]

  /// Runs a job in a separate process.
  static func run(_ job: Job, environment: [String: String] = [:]) throws -> Measurement {
    try _run(job, with: [], environment: environment).measurement
  }

  /// SELECT statements that a job of the engine runs.
  static func statements(of job: Job) throws -> Int {
    try _run(job, with: [], environment: ["com.apple.CoreData.SQLDebug": "1"]).errors
      .split(separator: "\n").count { $0.contains("sql: SELECT") }
  }

  /// Instructions that a job takes in user space, by `perf stat` where the machine counts them, otherwise by
  /// callgrind.
  static func instructions(of job: Job) throws -> Double {
    let counted = try _instructions(of: job)
    var idle = job
    (idle.warmUps, idle.repetitions) = (0, 0)
    return counted - (try _instructions(of: idle))
  }

  private static func _instructions(of job: Job) throws -> Double {
    let command = _counter
    guard !command.isEmpty else {
      throw Failure(
        description:
          "Neither 'perf stat' counts instructions here nor is 'valgrind' on the path; install valgrind.")
    }
    let text = try _run(job, with: command, environment: [:]).errors
    for line in text.split(separator: "\n") {
      if let range = line.range(of: "Collected : "),
        let count = Double(line[range.upperBound...].split(separator: " ")[0])
      {
        return count
      }
      if line.contains("instructions"), let count = Double(line.split(separator: ",")[0]) { return count }
    }
    throw Failure(description: "'\(command[0])' told no number of instructions.")
  }

  /// The command that counts instructions; empty if there is none.
  private static let _counter: [String] = {
    if let text = try? _start(["perf", "stat", "-x,", "-e", "instructions:u", "true"]).errors,
      let first = text.split(separator: "\n").first(where: { $0.contains("instructions") }),
      Double(first.split(separator: ",")[0]) != nil
    {
      return ["perf", "stat", "-x,", "-e", "instructions:u"]
    }
    guard (try? _start(["valgrind", "--version"]))?.status == 0 else { return [] }
    return ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
  }()

  private static func _run(
    _ job: Job, with prefix: [String], environment: [String: String]
  ) throws -> (measurement: Measurement, errors: String) {
    let argument = String(decoding: try JSONEncoder().encode(job), as: UTF8.self)
    let result = try _start(prefix + [_program, "--job", argument], environment)
    let what = "'\(job.work.rawValue)' of \(job.objects) objects, \(job.side.rawValue)"
    guard let outcome = try? JSONDecoder().decode(JobOutcome.self, from: Data(result.output.utf8)) else {
      throw Failure(
        description:
          "The process for \(what) ended with status \(result.status) and no result.\n\(result.errors)")
    }
    switch outcome {
    case .finished(let measurement): return (measurement, result.errors)
    case .failed(let reason): throw Failure(description: "\(what) failed: \(reason)")
    }
  }

  private static func _start(
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
