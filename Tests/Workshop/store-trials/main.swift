import CoreData
import CoreDataStoreTrials
import CoreDataToolKit
import Foundation

/// Opens, reads and changes damaged files in order, given as pairs of a file and the store from which it was
/// made: the child of `fuzz`.
func readSpoiltFiles(_ words: [String]) throws {
  // One model for each original: 'fuzz' uses few.
  var models: [String: NSManagedObjectModel] = [:]
  for position in stride(from: 0, to: words.count - 1, by: 2) {
    let (file, original) = (words[position], words[position + 1])
    if models[original] == nil { models[original] = try? .load(fromStoreAt: URL(fileURLWithPath: original)) }
    let model = models[original].flatMap { $0.isReconstructedFromTables ? nil : $0 }
    let trial = try HostileRead(URL(fileURLWithPath: file), model: model)
    let line = "\(trial.failure == nil ? "ok" : "bad")\t\(file)\t\(trial.failure ?? trial.outcome)\n"
    FileHandle.standardOutput.write(Data(line.utf8))
  }
}

/// Loads damaged models in order, given as pairs of a file and the model from which it was made: the child of
/// `fuzz-models`.
func readSpoiltModels(_ words: [String]) {
  for position in stride(from: 0, to: words.count - 1, by: 2) {
    let trial = HostileModelRead(URL(fileURLWithPath: words[position]))
    FileHandle.standardOutput.write(Data("ok\t\(words[position])\t\(trial.outcome)\n".utf8))
  }
}

if CommandLine.arguments.dropFirst().first == "read-models" {
  readSpoiltModels(Array(CommandLine.arguments.dropFirst(2)))
  exit(0)
}

if CommandLine.arguments.dropFirst().first == "read" {
  try readSpoiltFiles(Array(CommandLine.arguments.dropFirst(2)))
  exit(0)
}

let fuzz = Command(
  CommandSyntax(
    "fuzz",
    summary:
      "Spoil copies of stores in every way, read each in a child process, and report crashes and hangs.",
    options: [
      .value("files", "N", "Number of spoilt files; 500 if not given."),
      .value("seed", "N", "Which ones; the same seed makes the same files."),
      .value("findings", "DIR", "Where files that fail are kept."),
    ],
    operands: [
      .init("STORE", isOptional: true, "Store to start from, or collection of them; a sample if not given.")
    ],
    exitCodes: [.success, .usage, .badInput])
) { arguments, environment in
  var stores = arguments.operands.flatMap { path -> [URL] in
    let found = CorpusStore.all(in: URL(fileURLWithPath: path)).filter { !$0.isDamaged }.map(\.url)
    return found.isEmpty ? [URL(fileURLWithPath: path)] : found
  }
  let made = try SampleStore()
  if stores.isEmpty { stores = [made.url] }
  let findings = URL(fileURLWithPath: arguments.text("findings") ?? "findings")
  let run = HostileRun(
    originals: stores, fileCount: try arguments.integer("files", in: 1...1_000_000) ?? 500,
    seed: UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1), findings: findings)
  let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
  let (outcomes, found) = try run.run(reader: [program, "read"]) { environment.error("\($0)\n") }
  try environment.output("\(outcomes.values.reduce(0, +)) files ended in data or an error.\n")
  guard found.isEmpty else {
    for finding in found { try environment.output("\(finding.file.path): \(finding.reason)\n") }
    throw ToolFailure(.badInput, "\(found.count) files crashed or hung their reader, or were changed by it.")
  }
}

let fuzzModels = Command(
  CommandSyntax(
    "fuzz-models",
    summary:
      "Spoil copies of compiled models in every way, load each in a child process, report crashes and hangs.",
    options: [
      .value("files", "N", "Number of spoilt models; 500 if not given."),
      .value("seed", "N", "Which ones; the same seed makes the same files."),
      .value("findings", "DIR", "Where files that fail are kept."),
    ],
    operands: [
      .init("MODEL", isOptional: true, "Compiled model (.mom), or directory of them; a sample if not given.")
    ],
    exitCodes: [.success, .usage, .badInput])
) { arguments, environment in
  var models = arguments.operands.flatMap { path -> [URL] in
    let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? []
    let found = names.filter { $0.hasSuffix(".mom") }.sorted().map { URL(fileURLWithPath: "\(path)/\($0)") }
    return found.isEmpty ? [URL(fileURLWithPath: path)] : found
  }
  let place = FileManager.default.temporaryDirectory.appendingPathComponent("sample-\(UUID().uuidString).mom")
  defer { try? FileManager.default.removeItem(at: place) }
  try SampleStore.compiledModel().write(to: place)
  models.append(place)
  var run = HostileRun(
    originals: models, fileCount: try arguments.integer("files", in: 1...1_000_000) ?? 500,
    seed: UInt64(try arguments.integer("seed", in: 0...Int.max) ?? 1),
    findings: URL(fileURLWithPath: arguments.text("findings") ?? "findings"))
  run.subject = .models
  let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
  let (outcomes, found) = try run.run(reader: [program, "read-models"]) { environment.error("\($0)\n") }
  try environment.output("\(outcomes.values.reduce(0, +)) models ended in a model or an error.\n")
  guard found.isEmpty else {
    for finding in found { try environment.output("\(finding.file.path): \(finding.reason)\n") }
    throw ToolFailure(.badInput, "\(found.count) models crashed or hung their reader.")
  }
}

let survey = Command(
  CommandSyntax(
    "survey", summary: "Try everything on a collection of stores, and write the table of docs/Interop.md.",
    options: [.flag("differences", "Say what differs, too.")],
    operands: [.init("COLLECTION", "Directory with 'stores' in it.")])
) { arguments, environment in
  let stores = CorpusStore.all(in: URL(fileURLWithPath: arguments.operands[0]))
  guard !stores.isEmpty else {
    throw ToolFailure(.noInput, "there are no stores in '\(arguments.operands[0])'.")
  }
  try environment.output(Survey.header)
  for store in stores {
    let line = Survey(store)
    try environment.output(line.row + "\n")
    if arguments.has("differences") {
      for difference in line.differences { environment.error("  \(difference)\n") }
    }
  }
}

let tool = CommandLineTool(
  name: "store-trials", version: "1", summary: "Trials of the engine on store files.",
  commands: [survey, fuzz, fuzzModels])
exit(tool.run(Array(CommandLine.arguments.dropFirst()), in: .process).rawValue)
