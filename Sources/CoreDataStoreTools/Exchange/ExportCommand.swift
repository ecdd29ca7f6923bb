import CoreData
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata store export`.
  static let export = Command(
    CommandSyntax(
      "export", summary: "Write a store's objects as JSON or CSV.",
      discussion: ExchangeForm.discussion + [
        "'coredata store import' makes a store of an export again; exporting that gives the same bytes."
      ],
      examples: [
        "coredata store export Books.sqlite --output books.ndjson",
        "coredata store export Books.sqlite --format csv --output books",
        "coredata store export Books.sqlite --entity Book | jq .title",
      ],
      options: [
        StoreArguments.model, .output("PATH", "Write there instead of to standard output."), .force,
        ExchangeForm.option,
        OptionSyntax.value("entity", "NAME", repeats: true, "Only this entity, without its subentities.")
          .completed(with: .entities),
        .flag("json", "The same as --format json."),
      ], operands: [StoreArguments.store], exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    if arguments.has("json"), arguments.has("format") { throw UsageError.conflict("--format", "--json") }
    let output = arguments.outputPath
    let form = try arguments.has("json") ? .json : ExchangeForm.chosen(arguments, path: output)
    if form == .csv, output == nil {
      throw ToolFailure(
        .usage, "CSV needs a directory to write a file for each entity into: '--output DIRECTORY'.")
    }
    let input = try StoreInput(arguments, environment)
    try input.reading { reader in
      let entities =
        try arguments.values["entity"].map { try $0.map { try reader.layout.entity(named: $0) } }
        ?? reader.layout.layouts.filter { !$0.isAbstract }
      if let output { try ExportTarget.expectNot(input.path, output) }
      let text = ValueText(reader.layout)
      let file = { () throws(ToolFailure) in try arguments.outputFile(environment).sink() }
      let writer: any RecordWriter =
        switch form {
        case .ndjson: LineWriter(try file(), text)
        case .json: DocumentWriter(try file(), text)
        case .csv:
          CSVDirectoryWriter(
            try OutputDirectory(path: output ?? "", replaces: arguments.replacesOutputs), text)
        }
      let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
      defer { progress.finish() }
      let count = try StoreExporter(reader, entities: entities).run(to: writer) { progress.update($0, $1) }
      progress.finish()
      if let output { environment.error("\(counted(count, "object")) written to \(output).\n") }
    }
  }
}

/// Checks the destination of an export.
enum ExportTarget {
  /// Rejects the store itself as the output.
  static func expectNot(_ store: String, _ output: String) throws(ToolFailure) {
    let names = [store, store + "-wal", store + "-shm"].map {
      URL(fileURLWithPath: $0).resolvingSymlinksInPath().path
    }
    guard names.contains(URL(fileURLWithPath: output).resolvingSymlinksInPath().path) else { return }
    throw ToolFailure(.usage, "'\(output)' is the store itself. Name another file.")
  }
}
