import Foundation
import Measuring

/// The parent's side: measures each case at two sizes, in processes of their own.
struct GrowthSession {
  let options: GrowthOptions
  /// Told what is being done.
  let progress: (String) -> Void

  /// Processes for each size; the cheapest counts. A case that is beyond its law gets as many again, and then its
  /// instructions are counted.
  private static let _rounds = 3
  private static let _attempts = 3

  /// A case that fails is in the report; the others are measured.
  func run() -> GrowthReport {
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let directory = "\(base)/coredata-growth-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var report = GrowthReport()
    for growth in options.cases {
      do {
        report.results.append(try _result(of: growth, directory))
      } catch {
        report.failures.append("\(error)")
      }
    }
    return report
  }

  private func _result(of growth: GrowthCase, _ directory: String) throws -> GrowthReport.Result {
    let size = options.isShort ? growth.shortSize : growth.size
    var result = GrowthReport.Result(growth: growth, size: size)
    repeat {
      for _ in 0..<(options.isShort ? 1 : Self._rounds) {
        result.small.append(try _measure(growth, size, directory))
        result.large.append(try _measure(growth, size * GrowthCase.factor, directory))
      }
      result.attempts += 1
    } while !result.complaints.isEmpty && result.attempts < Self._attempts
    // On a server, most of the work is in other processes.
    if result.isSlow, options.server == nil, InstructionCounter.isAvailable {
      result.instructionRatio =
        try _instructions(growth, size * GrowthCase.factor, directory)
        / _instructions(growth, size, directory)
    }
    return result
  }

  private func _measure(
    _ growth: GrowthCase, _ size: Int, _ directory: String
  ) throws -> GrowthMeasurement {
    progress("\(growth.name), \(size)")
    return try _inDirectory(directory) {
      let job = GrowthJob(name: growth.name, size: size, directory: directory, server: options.server)
      return try ChildProcess.measurement(of: job, "'\(growth.name)' of \(size)").measurement
    }
  }

  /// The instructions of a unit.
  private func _instructions(_ growth: GrowthCase, _ size: Int, _ directory: String) throws -> Double {
    progress("\(growth.name), \(size), counting instructions")
    func count(_ extent: GrowthJob.Extent) throws -> (measurement: GrowthMeasurement, instructions: Double) {
      try _inDirectory(directory) {
        let job = GrowthJob(name: growth.name, size: size, directory: directory, extent: extent)
        return try InstructionCounter.count(of: job, "'\(growth.name)' of \(size)")
      }
    }
    let whole = try count(.throughWork)
    return try (whole.instructions - count(.upToWork).instructions) / Double(whole.measurement.units)
  }

  /// A new directory for a process, gone afterwards.
  private func _inDirectory<Result>(_ directory: String, _ body: () throws -> Result) throws -> Result {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try body()
  }
}
