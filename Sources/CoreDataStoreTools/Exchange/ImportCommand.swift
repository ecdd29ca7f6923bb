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
      ],
      examples: [
        "coredata store import books.ndjson --model Books.xcdatamodeld --output Books.sqlite",
        "coredata store import books --model Old.sqlite --output Books.sqlite",
        "coredata store import more.json --base Books.sqlite --output MoreBooks.sqlite",
      ],
      options: [
        .value("output", "FILE", "The store to make."),
        .value(
          "model", "FILE",
          "The model of the new store: a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store that has it inside."
        ),
        .value("base", "STORE", "Begin with a copy of this store."), ExchangeForm.option,
        .flag("skip-missing", "Leave out references to objects that are not in the input."),
        StoreArguments.json,
      ],
      operands: [CommandSyntax.Operand("INPUT", "A file of JSON, or a directory of CSV files.")],
      exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    let path = arguments.operands[0]
    guard let output = arguments.text("output") else {
      throw ToolFailure(.usage, "Say which file to write the store to: '--output FILE'.")
    }
    let base = arguments.text("base")
    guard base != nil || arguments.has("model") else {
      throw ToolFailure(
        .usage, "A new store needs a model: '--model FILE', or '--base STORE' to add to a copy of one.")
    }
    let form = try ExchangeForm.chosen(arguments, path: path)
    // Before anything is made: a path that is wrong should leave nothing behind.
    _ = try RecordSources.open(path, form)
    try CheckRun.expectNothing(at: output)
    let model = try ImportModel.load(arguments.text("model"), base: base, environment)
    do {
      let outcome = try ImportModel.translating(output) {
        if let base { try StoreFileFacts.copy(path: base, to: output) }
        let writer = try StoreWriter(path: output, model: model)
        let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
        defer { progress.finish() }
        let importer = try StoreImporter(
          path, form, into: writer, skipsMissing: arguments.has("skip-missing"),
          progress: { progress.update($0, $1) })
        let outcome = try importer.run()
        try writer.close()
        return outcome
      }
      environment.output(arguments.has("json") ? outcome.json(output).text() + "\n" : outcome.text(output))
    } catch {
      ImportModel.removeStore(output)
      throw error
    }
  }
}

extension StoreImporter.Outcome {
  fileprivate func text(_ output: String) -> String {
    var text = "\(counted(objects, "object")) written to \(output).\n"
    if skipped > 0 {
      text += "\(counted(skipped, "reference")) to objects that are not in the input left out.\n"
    }
    if let firstIncomplete {
      text +=
        "\(counted(incomplete, "object")) without a value that is not optional, the first at \(firstIncomplete): "
        + "'coredata store check' lists them.\n"
    }
    return text
  }

  fileprivate func json(_ output: String) -> JSONText {
    .object([
      ("file", .string(output)), ("objects", .integer(objects)), ("skippedReferences", .integer(skipped)),
      ("incompleteObjects", .integer(incomplete)),
    ])
  }
}

/// The model of a store that is made.
enum ImportModel {
  static func load(
    _ path: String?, base: String?, _ environment: ToolEnvironment
  ) throws(ToolFailure) -> ModelSchema {
    let model =
      if let base { try StoreInput(base, model: path, environment).model } else {
        try StoreModel.load(path ?? "", for: [:])
      }
    try model.expectExact(base ?? path ?? "")
    return model.schema
  }

  /// As for stores that are read, with what only writing meets.
  static func translating<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as CocoaError where [640, 642, 512, 513].contains(error.errorCode) {
      let message = error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription
      throw ToolFailure(.cannotCreateOutput, "Cannot write '\(path)': \(message)")
    } catch {
      throw StoreInput.failure(error, path)
    }
  }

  /// Takes away what an import that failed has made.
  static func removeStore(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let directory = StoreFileFacts.externalDirectory(path: path)
    try? FileManager.default.removeItem(atPath: (directory as NSString).deletingLastPathComponent)
  }
}
