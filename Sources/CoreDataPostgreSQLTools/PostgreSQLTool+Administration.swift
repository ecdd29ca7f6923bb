import CoreData
import CoreDataModelSchema
import CoreDataModelTools
import CoreDataPostgreSQL
import CoreDataToolKit
import Foundation

// `coredata postgres status`, `check`, `migrate` and `tidy`.

extension PostgreSQLTool {
  /// Runs `body` with the administration of the store whose URL is on standard input.
  private static func _administering<Result>(
    _ doing: String, _ body: (PostgreSQLAdministration) throws -> Result
  ) throws -> Result {
    let (text, url) = try readURL()
    do {
      return try body(try PostgreSQLAdministration(url))
    } catch let error as CocoaError {
      throw ToolFailure(
        code(error), "'\(ServerStore.name(text))' cannot be \(doing): \(error.debugText)")
    }
  }

  static func printStatus(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let status = try _administering("read") { try $0.status() }
    var lines = status.versions.enumerated().map { index, version in
      let use =
        version.mayWrite
        ? "programs write" : version.mayRead ? "programs read only" : "programs get an error"
      return "version \(version.epoch)\(index == 0 ? ", the present one" : ""): "
        + "since \(version.began), by \(version.role); \(use)"
        + (version.connectionCount == 0
          ? ""
          : ", \(version.connectionCount == 1 ? "1 connection" : "\(version.connectionCount) connections")")
    }
    if lines.isEmpty {
      lines = ["an older version of the package has made the store; it gets versions when its owner opens it"]
    }
    if !status.hidden.isEmpty {
      lines.append(
        "for programs with earlier versions only: \(status.hidden.joined(separator: ", ")); "
          + "'coredata postgres migrate MODEL --contract' drops it")
    }
    lines.append("size: \(status.size / 1_000) kB")
    lines.append("receipts: \(status.receiptCount)")
    lines.append("transactions in the history: \(status.historyCount)")
    lines += status.unfinishedIndexes.map { index in
      "index \(index.name) of \(index.table): "
        + (index.isBeingBuilt
          ? "being built"
          : "its build has ended early; 'coredata postgres migrate MODEL --apply' builds it again")
    }
    try environment.output(lines.map { $0 + "\n" }.joined())
  }

  static func check(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
    defer { progress.finish() }
    let findings = try _administering("checked") { try $0.check { progress.update($0, $1) } }
    progress.finish()
    if findings.isEmpty { return try environment.output("Nothing is wrong.\n") }
    try environment.output(findings.map { $0 + "\n" }.joined())
    throw ToolFailure(
      .badInput, "The store did not pass: \(findings.count == 1 ? "a fault" : "\(findings.count) faults").")
  }

  static func migrate(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    let path = arguments.operands[0]
    let model: NSManagedObjectModel
    do {
      model = try StoreFileFacts.managedObjectModel(try ModelInput.load(path))
    } catch let error as CocoaError {
      throw ToolFailure(.badInput, "'\(path)' cannot be used as a model: \(error.debugText)")
    }
    let applies = arguments.has("apply")
    for other in ["apply", "contract"] where arguments.has("plan") && arguments.has(other) {
      throw UsageError.conflict("--plan", "--\(other)")
    }
    if arguments.has("contract") { return try _contract(to: model, path, arguments, environment) }
    if arguments.has("force") { throw UsageError.missingCompanion("--force", "--contract") }
    let text = try _administering("migrated") { store -> String in
      let outlook = try store.outlook(of: model)
      switch outlook {
      case .nothing: return try _buildIndexes(of: model, store, applies, environment)
      case .outdated, .refused:
        throw ToolFailure(.badInput, _text(of: outlook))
      case .expansion, .barrier:
        if !applies { return _text(of: outlook) + " Add --apply to migrate." }
        try store.migrate(to: model)
        // Those for which the migration had no time.
        _ = try _buildIndexes(of: model, store, true, environment)
        return _text(of: outlook) + " Done."
      }
    }
    try environment.output(text + "\n")
  }

  /// Drops what a store has for programs with earlier versions, unless some are connected.
  private static func _contract(
    to model: NSManagedObjectModel, _ path: String, _ arguments: ParsedArguments,
    _ environment: ToolEnvironment
  ) throws {
    if arguments.has("apply") { throw UsageError.conflict("--apply", "--contract") }
    let text = try _administering("contracted") { store -> String in
      guard let contraction = try store.contraction(to: model) else {
        throw ToolFailure(
          .badInput,
          "'\(path)' is not the store's version of the model. 'coredata postgres status' shows the versions.")
      }
      if contraction.earlier.isEmpty { return "No earlier version may write: nothing to do." }
      if !contraction.connections.isEmpty, !arguments.has("force") {
        throw ToolFailure(
          .temporaryFailure,
          "Programs with earlier versions are connected, and would get errors:\n"
            + contraction.connections.map { "  \($0)\n" }.joined()
            + "Stop them first, or add --force.")
      }
      try store.contract(to: model)
      let ended = contraction.earlier.map(String.init).joined(separator: ", ")
      return
        (contraction.hidden.isEmpty
        ? "Nothing was hidden." : "Dropped: \(contraction.hidden.joined(separator: ", ")).")
        + " Programs with version \(ended) get an error from now on."
    }
    try environment.output(text + "\n")
  }

  /// Builds the indexes that a store of this version lacks, or tells which.
  private static func _buildIndexes(
    of model: NSManagedObjectModel, _ store: PostgreSQLAdministration, _ applies: Bool,
    _ environment: ToolEnvironment
  ) throws -> String {
    let missing = try store.missingIndexes(of: model)
    if missing.isEmpty { return "The store has this version: nothing to do." }
    let list = missing.joined(separator: ", ")
    if !applies {
      return "The store has this version, and lacks indexes: \(list). "
        + "Add --apply to build them beside the programs."
    }
    try store.buildMissingIndexes(of: model) { environment.error("Building the index of \($0) ...\n") }
    return "Indexes built: \(list)."
  }

  private static func _text(of outlook: PostgreSQLAdministration.Outlook) -> String {
    switch outlook {
    case .nothing: "Nothing to do."
    case .outdated:
      "The store has had this version, and a later one has ended it. Migrate to a newer version, or restore a backup."
    case .expansion(let hidden):
      hidden.isEmpty
        ? "The version only adds: columns and tables are added without writing a row, and programs with the present version go on."
        : "Columns and tables are added without writing a row. \(hidden.joined(separator: ", ")): stays in the store, hidden, for "
          + "programs with the present version, which go on, until '--contract' drops it."
    case .barrier(let reason, let copied):
      "\(reason): \(_work(copied)), and saves of programs with the present version fail from then on."
    case .refused(let changes):
      "This needs a mapping model, a stage, or the present version among the program's models: "
        + changes.map { "\($0.subject): \($0.what) (\($0.why))" }.joined(separator: "; ") + "."
    }
  }

  /// What a migration does with the tables.
  private static func _work(_ copied: [String]) -> String {
    if copied.isEmpty { return "the tables are altered, which writes no row" }
    let names = copied.map { "'\($0)'" }.joined(separator: ", ")
    return "the \(copied.count == 1 ? "table \(names) is" : "tables \(names) are") copied while programs wait"
  }

  static func tidy(_ arguments: ParsedArguments, _ environment: ToolEnvironment) throws {
    var days: Double?
    if let text = arguments.text("history") {
      guard let number = Double(text), number >= 0, number.isFinite else {
        throw ToolFailure(.usage, "'\(text)' is no number of days.")
      }
      days = number
    }
    let (receipts, transactions) = try _administering("tidied") { store in
      (try store.deleteOldReceipts(), try days.map { try store.deleteHistory(olderThan: $0) })
    }
    var text = "receipts deleted: \(receipts)\n"
    if let transactions { text += "transactions deleted: \(transactions)\n" }
    try environment.output(text)
  }
}
