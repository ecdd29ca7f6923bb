import CoreDataToolKit
import Foundation

/// Runs the complete comparison: floor and stacks in turn, each in a separate process, for the requested
/// number of runs.
struct Shootout {
  let workload: Workload
  let launcher: WorkerLauncher
  let place: any StorePlace
  /// The directory in which the run's files are created.
  let directory: String
  /// The directory in which the last run's stores are kept; nil to remove them.
  let keptStores: String?
  let progress: ProgressBar

  /// The stops of a source, read or generated.
  static func feed(of source: Workload.Source) throws -> (name: String, bytes: [UInt8], feed: StopFeed) {
    switch source {
    case .file(let path):
      let bytes = try StopReader.contents(ofFile: path)
      return (
        path == "-" ? "standard input" : (path as NSString).lastPathComponent, bytes,
        try StopReader(name: path).read(bytes)
      )
    case .generated(let count):
      let stops = GeneratedCity.stops(count: count)
      return ("generated", Array(GeneratedCity.feedText(stops).utf8), StopFeed(stops: stops))
    }
  }

  /// Runs everything.
  func run(name: String, bytes: [UInt8], feed: StopFeed) throws -> ShootoutResult {
    let subjects = [Subject.floor] + workload.stacks.map(Subject.stack)
    let work = try WorkDirectory(for: "shootout", in: directory) { path in
      for subject in subjects { try? _remove(subject, path) }
    }
    defer { work.remove() }
    // A copy, so that a pipe can be read several times and the input stays the same for all runs.
    let feedPath = work.path + "/stops.txt"
    guard FileManager.default.createFile(atPath: feedPath, contents: Data(bytes)) else {
      throw ToolFailure(.cannotCreateOutput, "Cannot write '\(feedPath)'. Is there room in '\(directory)'?")
    }
    var measurements: [Subject: [RunMeasurement]] = [:]
    let steps = workload.runs * subjects.count
    for step in 0..<steps {
      let subject = subjects[step % subjects.count]
      let run = step / subjects.count + 1
      let label = "run \(run) of \(workload.runs): \(subject.name)"
      progress.update(Double(step) / Double(steps), label)
      let job = WorkerJob(
        subject: subject, feedPath: feedPath,
        storeName: place.storeName(of: subject.name, in: work.path), mode: workload.mode,
        saveEvery: workload.saveEvery, keepsLiveList: workload.keepsLiveList,
        reportsProgress: progress.isVisible)
      let measurement: RunMeasurement
      do {
        measurement = try launcher.run(job) { count in
          progress.update((Double(step) + Double(count) / Double(feed.stops.count)) / Double(steps), label)
        }
      } catch {
        // Report why the run failed rather than a failure to remove its files.
        try? _remove(subject, work.path)
        throw error
      }
      if run < workload.runs || keptStores == nil { try _remove(subject, work.path) }
      measurements[subject, default: []].append(measurement)
    }
    if let keptStores { try _keep(subjects, from: work.path, in: keptStores) }
    return ShootoutResult(
      workload: workload, sourceName: name, feed: feed, measurements: measurements, place: place)
  }

  private func _remove(_ subject: Subject, _ directory: String) throws {
    let name = place.storeName(of: subject.name, in: directory)
    do {
      try place.remove(place.store(named: name))
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
