import Foundation

/// Starts a process for each job and takes what it says.
struct Launcher {
  struct Failure: Error, CustomStringConvertible { let description: String }

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
    if let text = try? ChildProcess.start(["perf", "stat", "-x,", "-e", "instructions:u", "true"]).errors,
      let first = text.split(separator: "\n").first(where: { $0.contains("instructions") }),
      Double(first.split(separator: ",")[0]) != nil
    {
      return ["perf", "stat", "-x,", "-e", "instructions:u"]
    }
    guard (try? ChildProcess.start(["valgrind", "--version"]))?.status == 0 else { return [] }
    return ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
  }()

  private static func _run(
    _ job: Job, with prefix: [String], environment: [String: String]
  ) throws -> (measurement: Measurement, errors: String) {
    try ChildProcess.measurement(
      of: job, "'\(job.work.rawValue)' of \(job.objects) objects, \(job.side.rawValue)", with: prefix,
      environment: environment)
  }
}
