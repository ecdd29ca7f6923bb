import Foundation
import Measuring

/// The parent's side: takes the steps with stores of several sizes, and compares what both sides find.
struct RowsSession {
  struct Mismatch: Error, CustomStringConvertible { let description: String }

  let options: RowsOptions
  /// Told what is being done.
  let progress: (String) -> Void

  func run() throws -> RowsReport {
    let base = options.directory ?? ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let directory = "\(base)/coredata-rows-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var report = RowsReport()
    for rows in options.sizes {
      for step in RowsStep.allCases where options.takes(step) {
        report.results.append(try _take(step, rows, directory))
      }
      report.files.append(try _files(rows, directory))
    }
    return report
  }

  /// Rounds of a step that takes less than a second.
  private static let _rounds = 3

  private func _take(_ step: RowsStep, _ rows: Int, _ directory: String) throws -> RowsReport.Result {
    var result = RowsReport.Result(step: step, rows: rows)
    repeat {
      let isEven = result.engine.count.isMultiple(of: 2)
      for side in isEven ? Side.allCases : Side.allCases.reversed() {
        let job = RowsJob(step: step, side: side, rows: rows, directory: directory)
        progress("\(rows) rows: \(step.rawValue), \(side.rawValue)")
        let found: RowsMeasurement = try ChildProcess.measurement(
          of: job, "'\(step.rawValue)' of \(rows) rows, \(side.rawValue)"
        ).measurement
        if side == .engine { result.engine.append(found) } else { result.floor.append(found) }
        if step == .importBatch { try _remove(job.path) }
      }
    } while !step.changesStore && result.engine.count < Self._rounds
      && result.engine[0].seconds < 1
    let checks = (result.engine + result.floor).map(\.check)
    if let other = checks.first(where: { $0 != checks[0] }) {
      throw Mismatch(
        description:
          "'\(step.rawValue)' of \(rows) rows: the engine found \(checks[0]), another run \(other).")
    }
    return result
  }

  private func _remove(_ path: String) throws {
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  /// The size of both files at the end, which are removed.
  private func _files(_ rows: Int, _ directory: String) throws -> RowsReport.Files {
    var sizes: [Double] = []
    for side in Side.allCases {
      let path = RowsJob(step: .open, side: side, rows: rows, directory: directory).path
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      sizes.append(Double(size) / 1e6)
      try _remove(path)
    }
    return RowsReport.Files(rows: rows, engineMegabytes: sizes[0], floorMegabytes: sizes[1])
  }
}
