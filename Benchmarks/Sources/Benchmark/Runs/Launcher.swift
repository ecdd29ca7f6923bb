import Measuring

/// Starts a process for each job and takes what it says.
struct Launcher {
  /// Runs a job in a separate process.
  static func run(_ job: Job, environment: [String: String] = [:]) throws -> Measurement {
    try _run(job, environment: environment).measurement
  }

  /// SELECT statements that a job of the engine runs.
  static func statements(of job: Job) throws -> Int {
    try _run(job, environment: ["com.apple.CoreData.SQLDebug": "1"]).errors
      .split(separator: "\n").count { $0.contains("sql: SELECT") }
  }

  /// Instructions that a job takes in user space, net of setting up.
  static func instructions(of job: Job) throws -> Double {
    var idle = job
    (idle.warmUps, idle.repetitions) = (0, 0)
    return try _instructions(of: job) - _instructions(of: idle)
  }

  private static func _instructions(of job: Job) throws -> Double {
    let counted: (Measurement, instructions: Double) = try InstructionCounter.count(of: job, _name(of: job))
    return counted.instructions
  }

  private static func _run(
    _ job: Job, environment: [String: String]
  ) throws -> (measurement: Measurement, errors: String) {
    try ChildProcess.measurement(of: job, _name(of: job), environment: environment)
  }

  private static func _name(of job: Job) -> String {
    "'\(job.work.rawValue)' of \(job.objects) objects, \(job.side.rawValue)"
  }
}
