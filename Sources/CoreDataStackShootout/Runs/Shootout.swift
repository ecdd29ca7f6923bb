import CoreDataToolKit
import Foundation

/// Runs the complete comparison: floor and stacks in turn, each in a separate process, for the requested
/// number of runs.
struct Shootout {
  let workload: Workload
  let launcher: WorkerLauncher
  /// Another build, which runs everything in turn with this one.
  var other: WorkerLauncher?
  let place: any StorePlace
  /// The directory in which the run's files are created.
  let directory: String
  /// The directory in which the last run's stores are kept; nil to remove them.
  let keptStores: String?
  let progress: ProgressBar

  /// Runs everything.
  ///
  /// - Returns: The result, and the runs of this build and of the other one.
  func run(
    _ input: PreparedInput
  ) throws -> (
    result: ShootoutResult, mine: [Subject: [RunMeasurement]], theirs: [Subject: [RunMeasurement]]
  ) {
    let subjects = (workload.hasFloor ? [Subject.floor] : []) + workload.stacks.map(Subject.stack)
    let work = try WorkDirectory(for: "shootout", in: directory) { path in
      for subject in subjects { try? _remove(subject, path) }
    }
    defer { work.remove() }
    let (feedPath, records, replay) = try input.copy(into: work.path)
    var measurements: [Subject: [RunMeasurement]] = [:]
    var others: [Subject: [RunMeasurement]] = [:]
    let steps = workload.runs * subjects.count
    for step in 0..<steps {
      let subject = subjects[step % subjects.count]
      let run = step / subjects.count + 1
      let label = "run \(run) of \(workload.runs): \(subject.name)"
      progress.update(Double(step) / Double(steps), label)
      var job = WorkerJob(
        subject: subject, feedPath: feedPath, records: records,
        storeName: place.storeName(of: subject.name, in: work.path), mode: workload.mode,
        saveEvery: workload.saveEvery, keepsLiveList: workload.keepsLiveList,
        reportsProgress: progress.isVisible)
      job.replay = replay
      job.screens = workload.screens
      job.triesChanges = run == workload.runs
      let measurement: RunMeasurement
      do {
        // One is first in one run, the other in the next.
        if run % 2 == 0, let other {
          try _add(try other.run(job) { _ in }, of: subject, to: &others, work.path)
        }
        measurement = try launcher.run(job) { count in
          progress.update((Double(step) + Double(count) / Double(input.count)) / Double(steps), label)
        }
      } catch {
        // Report why the run failed rather than a failure to remove its files.
        try? _remove(subject, work.path)
        throw error
      }
      if run < workload.runs || keptStores == nil { try _remove(subject, work.path) }
      try _compareContents(measurement, of: subject, with: measurements)
      try _compareRows(measurement, of: subject, with: measurements)
      try _compareScreens(measurement, of: subject, with: measurements)
      measurements[subject, default: []].append(measurement)
      if run % 2 == 1, let other {
        if run == workload.runs, let keptStores { try _keep([subject], from: work.path, in: keptStores) }
        try _add(try other.run(job) { _ in }, of: subject, to: &others, work.path)
      }
    }
    if let keptStores { try _keep(subjects, from: work.path, in: keptStores) }
    let result = ShootoutResult(
      workload: workload, sourceName: input.name, lines: input.count, skippedRows: input.skipped,
      measurements: measurements, place: place)
    return (result, measurements, others)
  }

  /// Keeps a run of the other build, and removes its store.
  private func _add(
    _ measurement: RunMeasurement, of subject: Subject, to others: inout [Subject: [RunMeasurement]],
    _ directory: String
  ) throws {
    try _remove(subject, directory)
    others[subject, default: []].append(measurement)
  }

  /// Fails if a stack's store does not hold what the floor's does, or without a floor that of the first stack.
  private func _compareContents(
    _ measurement: RunMeasurement, of subject: Subject, with others: [Subject: [RunMeasurement]]
  ) throws(ToolFailure) {
    let first = workload.hasFloor ? Subject.floor : workload.stacks.first.map(Subject.stack)
    guard let first, let mine = measurement.digest, let theirs = others[first]?.last?.digest else { return }
    let differences = mine.differences(from: theirs)
    guard !differences.isEmpty else { return }
    throw ToolFailure(
      .internalError,
      "The run of '\(subject.name)' failed: its store does not hold what that of '\(first.name)' does, in "
        + "\(differences.joined(separator: ", ")).")
  }

  /// Fails if a replay leaves another number of objects than in another stack.
  private func _compareRows(
    _ measurement: RunMeasurement, of subject: Subject, with others: [Subject: [RunMeasurement]]
  ) throws(ToolFailure) {
    guard workload.isReplay else { return }
    for (other, runs) in others {
      guard let rows = runs.last?.rows, rows != measurement.rows else { continue }
      throw ToolFailure(
        .internalError,
        "The replay in '\(subject.name)' leaves \(counted(measurement.rows, "object")), and in '\(other.name)' \(rows)."
      )
    }
  }

  /// Fails if a screen does not show what it does on the floor, and in the other stacks.
  private func _compareScreens(
    _ measurement: RunMeasurement, of subject: Subject, with others: [Subject: [RunMeasurement]]
  ) throws(ToolFailure) {
    for (other, runs) in others where other != subject {
      for (mine, theirs) in zip(measurement.screens, runs.last?.screens ?? []) {
        let isOrdered = subject == .floor || other == .floor || mine.order == theirs.order
        guard mine.found != theirs.found || !isOrdered else { continue }
        throw ToolFailure(
          .internalError,
          "The screen '\(mine.name)' shows \(mine.found) objects in '\(subject.name)' and \(theirs.found) in '\(other.name)'"
            + (isOrdered ? "." : ", in another order."))
      }
    }
  }

  private func _remove(_ subject: Subject, _ directory: String) throws {
    let name = place.storeName(of: subject.name, in: directory)
    do {
      try place.remove(place.store(named: name))
      // Of a process that has been ended.
      if !workload.screens.isEmpty { try place.remove(place.store(named: name + "_beside")) }
    } catch {
      throw ToolFailure(
        .cannotCreateOutput, "The store '\(name)' could not be removed: \(error.localizedDescription)")
    }
  }

  private func _keep(_ subjects: [Subject], from work: String, in directory: String) throws {
    for subject in subjects {
      for suffix in SQLiteFiles.suffixes where suffix != "-shm" {
        let file = "/\(subject.name).sqlite\(suffix)"
        guard FileManager.default.fileExists(atPath: work + file) else { continue }
        do {
          try FileManager.default.moveItem(atPath: work + file, toPath: directory + file)
        } catch {
          throw ToolFailure(
            .cannotCreateOutput,
            "Cannot leave a store at '\(directory + file)': \(error.localizedDescription)")
        }
      }
    }
  }
}
