import CoreData
import Foundation
import Measuring

/// Measures what reading the versions of a model costs: see `Scripts/benchmark models --help`.
///
/// `write` writes the models; their compiled form is made by the build plugin's tool. Otherwise prints a line for each step: its name and milliseconds, the median of the rounds, each in a process of its own.
@main struct ModelsTool {
  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--job", arguments.count == 2 {
      ChildProcess.doJob(arguments[1]) { (job: ModelsJob) in job.outcome() }
    }
    MeasuringTool.run {
      guard let first = arguments.first, arguments.count == 2 else {
        throw MeasuringTool.Mistake(description: "usage: Models DIRECTORY ROUNDS|write")
      }
      let directory = URL(fileURLWithPath: first, isDirectory: true)
      if arguments[1] == "write" { return try ModelFiles(directory: directory).write() }
      guard let rounds = Int(arguments[1]), rounds > 0 else {
        throw MeasuringTool.Mistake(description: "'\(arguments[1])' is no number of rounds")
      }
      try _measure(directory, rounds)
    }
  }

  private static func _measure(_ directory: URL, _ rounds: Int) throws {
    var samples: [String: [Double]] = [:]
    for round in 1...rounds {
      for form in ModelFiles.Form.allCases {
        MeasuringTool.progress("round \(round) of \(rounds), .\(form.rawValue)")
        let job = ModelsJob(directory: directory.path, form: form.rawValue)
        let result: [String: Double] = try ChildProcess.measurement(of: job, "reading models").measurement
        for (step, value) in result { samples["\(form.rawValue) \(step)", default: []].append(value) }
      }
    }
    MeasuringTool.endProgress()
    for form in ModelFiles.Form.allCases {
      for step in ModelsJob.steps {
        let name = "\(form.rawValue) \(step)"
        print(String(format: "%@\t%.1f", name, (samples[name] ?? []).median))
      }
    }
  }
}

/// Reads all versions twice, in one form.
struct ModelsJob: Codable {
  static let steps = ["load", "entities", "hashes", "again", "megabytes"]

  let directory: String
  let form: String

  func outcome() -> JobOutcome<[String: Double]> {
    guard let form = ModelFiles.Form(rawValue: form) else { return .failed("no form '\(form)'") }
    let files = ModelFiles(directory: URL(fileURLWithPath: directory, isDirectory: true))
    let urls = (1...ModelFiles.versions).map { files.url(form, $0) }
    let (load, entities, hashes, again) = (Stopwatch(), Stopwatch(), Stopwatch(), Stopwatch())
    let before = ProcessMemory.residentBytes
    for url in urls {
      guard let model = load.time({ NSManagedObjectModel(contentsOf: url) }) else {
        return .failed("'\(url.path)' cannot be read")
      }
      entities.time { for entity in model.entities { _ = entity.propertiesByName.count } }
      hashes.time { _ = model.entityVersionHashesByName.count }
    }
    let held = ProcessMemory.residentBytes - before
    for url in urls {
      again.time {
        let model = NSManagedObjectModel(contentsOf: url)
        for entity in model?.entities ?? [] { _ = entity.propertiesByName.count }
        _ = model?.entityVersionHashesByName.count
      }
    }
    return .finished([
      "load": load.seconds * 1e3, "entities": entities.seconds * 1e3, "hashes": hashes.seconds * 1e3,
      "again": again.seconds * 1e3, "megabytes": held / 1e6,
    ])
  }
}
