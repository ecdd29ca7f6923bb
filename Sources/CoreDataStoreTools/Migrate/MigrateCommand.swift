import CoreData
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata store migrate`.
  static let migrate = Command(
    CommandSyntax(
      "migrate", summary: "Migrate a store to another version of its model.",
      discussion: [
        "Does what a container does when it loads a store of an older version: lightweight migration, in one transaction. "
          + "With --output the store stays as it is, and a migrated copy is written; with --in-place the store itself "
          + "is migrated, and is unchanged if that fails. --plan says what would change, which objects lose something "
          + "and what stands in the way, and writes nothing; its exit code is that of the migration.",
        "Changes that need a mapping model need a program: NSMigrationManager, or a container whose bundle has the mapping.",
      ],
      examples: [
        "coredata store migrate Books.sqlite --to Books.xcdatamodeld --plan",
        "coredata store migrate Books.sqlite --to Books.xcdatamodeld --output Migrated.sqlite",
        "coredata store migrate Books.sqlite --to Books.xcdatamodeld --in-place",
      ],
      options: [
        .value(
          "to", "MODEL",
          "The model to migrate to: a .xcdatamodeld or .momd, of which the current version counts, a .xcdatamodel, a "
            + ".mom, or a store that has it inside."),
        .flag("plan", "Only say what would happen."),
        .output("FILE", "Write a migrated copy there."), .force,
        .flag("in-place", "Migrate the store itself."), StoreArguments.model, StoreArguments.json,
      ], operands: [StoreArguments.store],
      exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    guard let modelPath = arguments.text("to") else {
      throw ToolFailure(.usage, "Say which model to migrate to: '--to MODEL'.")
    }
    let ways = ["plan", "output", "in-place"].filter(arguments.has)
    if ways.count > 1 { throw UsageError.conflict("--\(ways[0])", "--\(ways[1])") }
    guard let way = ways.first else {
      throw ToolFailure(
        .usage,
        "Say what to do: '--plan' to see what would happen, '--output FILE' for a migrated copy, '--in-place' for the "
          + "store itself.")
    }
    if way == "in-place" {
      try StoreArguments.expectFile(
        arguments,
        "Have a program open it with NSMigratePersistentStoresAutomaticallyOption, or write a migrated copy: '--output FILE'."
      )
    }
    let input = try StoreInput(arguments, environment)
    if way == "in-place", input.path != arguments.operands[0] {
      throw ToolFailure(
        .usage, "A stream cannot be migrated in place. Name a file for the result: '--output FILE'.")
    }
    try input.model.expectExact(input.name)
    let target = try StoreModel.load(modelPath, for: [:])
    try target.expectExact(modelPath)
    let run = MigrationRun(input: input, target: target, environment: environment)
    let staged = try arguments.text("output").map { path throws(ToolFailure) in
      try StagedStore(for: path, replaces: arguments.replacesOutputs, environment)
    }
    let report =
      arguments.has("output") && arguments.outputPath == nil ? environment.reportingOnError : environment
    let plan = try run.plan()
    try report.output(arguments.has("json") ? plan.json.text() + "\n" : plan.text)
    if plan.outlook.isBlocked || !plan.outlook.failing.isEmpty {
      throw ToolFailure(.badInput, "'\(input.name)' cannot be migrated. \(plan.conclusion)")
    }
    if way == "plan" || way == "in-place" && plan.outlook.steps.isEmpty { return }
    let result = try run.migrate(to: staged)
    if !arguments.has("json") { try report.output("Migrated: \(result).\n") }
  }
}

/// One run of the migrate command.
struct MigrationRun {
  let input: StoreInput
  let target: StoreModel
  let environment: ToolEnvironment

  func plan() throws -> MigrationReport {
    var report: MigrationReport?
    try input.reading { reader in
      report = MigrationReport(
        outlook: try MigrationOutlook(reader, from: input.model.schema, to: target.schema),
        from: input.model.origin, to: target.origin)
    }
    guard let report else { throw ToolFailure(.internalError, "The store was not read.") }
    return report
  }

  /// - Parameter staged: The copy to build; nil for the store itself.
  /// - Returns: The name of the migrated store.
  func migrate(to staged: StagedStore?) throws -> String {
    guard let staged else {
      return try StoreInput.translating(input.path) {
        try StoreFileFacts.migrate(path: input.path, from: input.model.schema, to: target.schema)
        return input.name
      }
    }
    return try ImportModel.translating(staged) {
      try StoreFileFacts.copy(path: input.path, to: staged.path)
      try StoreFileFacts.migrate(path: staged.path, from: input.model.schema, to: target.schema)
      try staged.finish()
      return staged.name
    }
  }
}
