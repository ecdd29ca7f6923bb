import Foundation
import Measuring

/// The child's side: takes one step in this process.
struct RowsRun {
  let job: RowsJob

  func outcome() -> JobOutcome<RowsMeasurement> {
    do {
      return .finished(try _measure())
    } catch {
      return .failed("\(error)")
    }
  }

  private func _measure() throws -> RowsMeasurement {
    let watch = Stopwatch()
    let check: () -> RowsCheck
    switch job.side {
    case .engine:
      if job.step.timesOpening { watch.resume() }
      var store: EngineReadings? = try EngineReadings(
        path: job.path, rows: job.rows, version: job.step.versionAfter)
      if !job.step.timesOpening { watch.resume() }
      check = try store!.run(job.step)
      if !job.step.changesStore { watch.pause() }
      try store!.close()
      store = nil
    case .floor:
      let isNew = !FileManager.default.fileExists(atPath: job.path)
      if job.step.timesOpening { watch.resume() }
      var store: FloorReadings? = try FloorReadings(path: job.path, rows: job.rows, isNew: isNew)
      if !job.step.timesOpening { watch.resume() }
      check = try store!.run(job.step)
      if !job.step.changesStore { watch.pause() }
      store = nil
    }
    watch.pause()
    var measurement = RowsMeasurement(
      seconds: watch.seconds, peakMegabytes: ProcessMemory.peakMegabytes)
    measurement.check = check()
    if job.step.changesStore { try _addContents(to: &measurement.check) }
    return measurement
  }

  /// Adds what the step has left in the file: rows and indexes, and sums of the columns.
  private func _addContents(to check: inout RowsCheck) throws {
    let database = try Database(path: job.path)
    let isEngine = job.side == .engine
    check.rows += Int(
      try database.number(isEngine ? EngineReadings.countQuery : FloorReadings.countQuery))
    check.rows += Int(try database.number("SELECT COUNT(*) FROM sqlite_master WHERE type = 'index'"))
    check.sum += try database.number(isEngine ? EngineReadings.sumQuery : FloorReadings.sumQuery)
  }
}

/// What a process found.
struct RowsMeasurement: Codable {
  var seconds: Double
  var peakMegabytes: Double
  var check = RowsCheck()
}

/// What a step found or left, told so that both sides can be compared.
struct RowsCheck: Codable, Equatable {
  var rows = 0
  var sum: Int64 = 0
}
