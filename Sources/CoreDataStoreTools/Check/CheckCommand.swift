import CoreData
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata store check`.
  static let check = Command.forEach(
    CommandSyntax(
      "check", summary: "Find what is wrong in a store file, and mend a copy of it.",
      discussion: [
        "Checks the pages, references that lead nowhere or to the wrong entity, inverses that do not lead back, primary "
          + "keys, entity numbers, the order of members, uniqueness constraints, missing values, the types of cells, and the "
          + "files with large values. Ends with 65 if there is an error; with --strict, also if there is a warning.",
        "--repair copies the store to the file that --output names and mends the copy: references that lead nowhere "
          + "become NULL, the other side of an inverse is set, keys, orders and indexes are put right, files that no row "
          + "names are deleted. The original stays as it is. What would take guessing is left and reported again.",
      ],
      examples: [
        "coredata store check Books.sqlite", "coredata store check *.sqlite",
        "coredata store check Books.sqlite --repair --output Mended.sqlite",
      ],
      options: [
        StoreArguments.model, StoreArguments.json, .flag("strict", "Take warnings for errors."),
        .flag("all", "List all rows that something is wrong with, not the first ten."),
        .flag("repair", "Write a mended copy."), .output("FILE", "Where to write the mended copy."), .force,
      ], operands: [StoreArguments.store.repeated],
      exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    let repairs = arguments.has("repair")
    guard repairs == arguments.has("output") else {
      throw ToolFailure(
        .usage,
        repairs
          ? "'--repair' mends a copy: say where to write it, '--output FILE'."
          : "'--output' goes with '--repair'.")
    }
    try StoreArguments.expectFile(
      arguments,
      "A copy would tell nothing of its tables: the server checks them, and a program that opens the store compares them with "
        + "its model.")
    let input = try StoreInput(arguments, environment)
    let limit = arguments.has("all") ? Int.max : 10
    let run = CheckRun(limit: limit, environment: environment)
    let findings = try run.findings(input.path, input)
    guard let output = arguments.text("output") else {
      try run.report(findings, input.name, isJSON: arguments.has("json"), isStrict: arguments.has("strict"))
      return
    }
    try input.model.expectExact(input.name)
    let staged = try StagedStore(for: output, replaces: arguments.replacesOutputs, environment)
    let report = arguments.outputPath == nil ? environment.reportingOnError : environment
    if !arguments.has("json") {
      try report.output(CheckReport(findings, path: input.name).text(environment.outputTerminal))
    }
    let left = try ImportModel.translating(staged) {
      try StoreRepairer.mend(input.path, to: staged.path, model: input.model.schema)
      let left = try run.findings(staged.path, input)
      try staged.finish()
      return left
    }
    try CheckRun(limit: limit, environment: report).report(
      left, staged.name, isJSON: arguments.has("json"), isStrict: arguments.has("strict"))
  }
}

/// One run of the check command.
struct CheckRun {
  let limit: Int
  let environment: ToolEnvironment

  func findings(_ path: String, _ input: StoreInput) throws -> [StoreFinding] {
    let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
    defer { progress.finish() }
    return try StoreInput.translating(path) {
      try StoreChecker.findings(
        in: path, model: input.model.schema, metadata: input.metadata, limit: limit,
        progress: { progress.update($0, $1) })
    }
  }

  func report(_ findings: [StoreFinding], _ path: String, isJSON: Bool, isStrict: Bool) throws(ToolFailure) {
    let report = CheckReport(findings, path: path)
    try environment.output(isJSON ? report.json.text() + "\n" : report.text(environment.outputTerminal))
    let failures = findings.filter { $0.severity == .error || isStrict }
    if !failures.isEmpty {
      throw ToolFailure(.badInput, "'\(path)' did not pass: \(CheckReport.summary(failures)).")
    }
  }
}
