import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata store import`.
  static let `import` = Command(
    CommandSyntax(
      "import", summary: "Make a store of an export, or of JSON or CSV of your own.",
      discussion: ExchangeForm.discussion + [
        "The store is a new file. With --base it begins as a copy of another store, and the objects are added to those.",
        "Objects that an export names keep their primary keys; any other $id will do for objects of your own, and only "
          + "those need one that others refer to. What is left out gets the model's default. Derived attributes are "
          + "computed anew. One side of a relationship is enough.",
        "A relationship that is its own inverse leads both ways, though some stores of Apple's programs have it one way "
          + "only. An import completes such links and counts them; with --keep-one-sided they stay as they are in the input.",
      ],
      examples: [
        "coredata store import books.ndjson --model Books.xcdatamodeld --output Books.sqlite",
        "coredata store import books --model Old.sqlite --output Books.sqlite",
        "coredata store import more.json --base Books.sqlite --output MoreBooks.sqlite",
      ],
      options: [
        .output("FILE", "The store to make."), .force,
        .value(
          "model", "FILE",
          "The model of the new store: a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store that has it inside."
        ),
        .value("base", "STORE", "Begin with a copy of this store."), ExchangeForm.option,
        .flag("skip-missing", "Leave out references to objects that are not in the input."),
        .flag(
          "keep-one-sided",
          "Keep one-sided links of relationships that are their own inverse, rather than complete them."),
        StoreArguments.json,
      ],
      operands: [
        CommandSyntax.Operand("INPUT", "A file of JSON, '-' for standard input, or a directory of CSV files.")
      ],
      exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    guard let output = arguments.text("output") else {
      throw ToolFailure(.usage, "Say which file to write the store to: '--output FILE'.")
    }
    guard !ServerStore.isURL(output) else {
      throw ToolFailure(
        .usage,
        "A store is written to a file, not to '\(ServerStore.name(output))'. Import into a file, and have a program move it by "
          + "NSPersistentStoreCoordinator.migratePersistentStore(_:to:options:type:) with the type \"PostgreSQL\"."
      )
    }
    let base = arguments.text("base")
    guard base != nil || arguments.has("model") else {
      throw ToolFailure(
        .usage, "A new store needs a model: '--model FILE', or '--base STORE' to add to a copy of one.")
    }
    // Read three times, which a pipe cannot be.
    let input = try SpooledInput(path: arguments.operands[0])
    let form = try ExchangeForm.chosen(arguments, path: input.path)
    // Check first: a wrong path should leave nothing behind.
    _ = try RecordSources.open(input, form)
    let staged = try StagedStore(for: output, replaces: arguments.replacesOutputs, environment)
    let origin = try base.map { path throws(ToolFailure) in try SpooledInput(path: path) }
    let model = try ImportModel.load(arguments.text("model"), base: origin, environment)
    let outcome = try ImportModel.translating(staged) {
      if let origin { try StoreFileFacts.copy(path: origin.path, to: staged.path) }
      let writer = try StoreWriter(path: staged.path, model: model)
      writer.keepsOneSided = arguments.has("keep-one-sided")
      let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
      defer { progress.finish() }
      let importer = try StoreImporter(
        input, form, into: writer, skipsMissing: arguments.has("skip-missing"),
        progress: { progress.update($0, $1) })
      let outcome = try importer.run()
      try writer.close()
      try staged.finish()
      return outcome
    }
    let report = arguments.outputPath == nil ? environment.reportingOnError : environment
    try report.output(
      arguments.has("json") ? outcome._json(staged.name).text() + "\n" : outcome._text(staged.name))
  }
}

extension StoreImporter.Outcome {
  fileprivate func _text(_ output: String) -> String {
    var text = "\(counted(objects, "object")) written to \(output).\n"
    if skipped > 0 {
      text += "\(counted(skipped, "reference")) to objects that are not in the input left out.\n"
    }
    if completed > 0 {
      text +=
        "\(counted(completed, "link")) of relationships that are their own inverse completed, which the input has one way only; "
        + "'--keep-one-sided' keeps them so.\n"
    }
    if let firstIncomplete {
      text +=
        "\(counted(incomplete, "object")) without a value that is not optional, the first at \(firstIncomplete): "
        + "'coredata store check' lists them.\n"
    }
    return text
  }

  fileprivate func _json(_ output: String) -> JSONText {
    .object([
      ("file", .string(output)), ("objects", .integer(objects)), ("skippedReferences", .integer(skipped)),
      ("completedLinks", .integer(completed)),
      ("incompleteObjects", .integer(incomplete)),
    ])
  }
}

/// The model of a created store.
enum ImportModel {
  static func load(
    _ path: String?, base: SpooledInput?, _ environment: ToolEnvironment
  ) throws(ToolFailure) -> ModelSchema {
    let model =
      if let base { try StoreInput(base, model: path, environment).model } else {
        try StoreModel.load(path ?? "", for: [:])
      }
    try model.expectExact(base?.name ?? path ?? "")
    return model.schema
  }

  /// Translates errors like commands that read stores, and additionally errors of writing.
  static func translating<Result>(_ staged: StagedStore, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as CocoaError where _isOfWriting(error) {
      let message = error.debugText
      throw staged.naming(ToolFailure(.cannotCreateOutput, "Cannot write '\(staged.path)': \(message)"))
    } catch {
      throw staged.naming(StoreInput.failure(error, staged.path))
    }
  }

  private static func _isOfWriting(_ error: CocoaError) -> Bool {
    if [640, 642, 512, 513].contains(error.errorCode) { return true }
    // READONLY, IOERR, FULL and CANTOPEN.
    let code = (error.userInfo[NSSQLiteErrorDomain] as? NSNumber)?.intValue
    return code.map { [8, 10, 13, 14].contains($0 & 0xFF) } ?? false
  }
}
