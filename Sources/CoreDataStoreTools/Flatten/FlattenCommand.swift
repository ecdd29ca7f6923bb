import CoreData
import CoreDataToolKit

extension Command {
  /// `coredata store flatten`.
  static let flatten = Command(
    CommandSyntax(
      "flatten", summary: "Write a store as plain tables for other tools.",
      discussion: [
        "The SQLite file has a table for each entity without a parent, with the model's names: 'id' is the number of the object "
          + "(of Book/p17 it is 17), 'entity' tells subentities apart, and each of these has a view; to-one relationships are "
          + "foreign keys such as author_id; many-to-many and ordered relationships have tables of their own. Dates are ISO "
          + "8601, UUIDs and decimals text, booleans 0 or 1; archives, property lists and JSON are JSON, other bytes stay.",
        "The table _column says what each column is, _provenance where the data is from. With --search each table gets an FTS5 "
          + "index of its texts, which datasette shows as a search field. csv and ndjson make a directory with a file for "
          + "each table. For Parquet: duckdb -c \"COPY (FROM 'out/Book.csv') TO 'Book.parquet'\".",
      ],
      examples: [
        "coredata store flatten Books.sqlite --output books.db",
        "coredata store flatten Books.sqlite --output books.db --search --zone Europe/Berlin",
        "coredata store flatten Books.sqlite --output books --format csv",
      ],
      options: [
        StoreArguments.model, .output("PATH", "Write there: a file, or a directory for csv and ndjson."),
        .force,
        .value(
          "format", "FORM", choices: FlattenForm.allCases.map(\.rawValue),
          "sqlite (the default), csv or ndjson."),
        .flag("search", "Index the texts of each table for a search by words."), StoreArguments.zone,
      ], operands: [StoreArguments.store], exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    let form: FlattenForm = try arguments.choice("format") ?? .sqlite
    guard let output = arguments.outputPath else {
      throw ToolFailure(
        .usage, "Plain tables need a place: '--output \(form == .sqlite ? "FILE" : "DIRECTORY")'.")
    }
    let indexesTexts = arguments.has("search")
    if form != .sqlite, indexesTexts { throw UsageError.conflict("--search", "--format") }
    let zone = try StoreArguments.zone(arguments)
    let input = try StoreInput(arguments, environment)
    try ExportTarget.expectNot(input.path, output)
    try input.reading { reader in
      let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
      defer { progress.finish() }
      let flattener = StoreFlattener(input, reader, zone)
      let made: (objects: Int, tables: Int)
      switch form {
      case .sqlite:
        let staged = try StagedStore(for: output, replaces: arguments.replacesOutputs, environment)
        do {
          made = try flattener.run(
            to: try FlatDatabase(path: staged.path, indexesTexts: indexesTexts), indexesTexts: indexesTexts
          ) { progress.update($0, $1) }
          try staged.finish()
        } catch let failure as ToolFailure {
          throw staged.naming(failure)
        }
      case .csv, .ndjson:
        let directory = try OutputDirectory(path: output, replaces: arguments.replacesOutputs)
        let sink: any FlatSink = form == .csv ? FlatCSV(directory) : FlatLines(directory)
        made = try flattener.run(to: sink, indexesTexts: false) { progress.update($0, $1) }
      }
      progress.finish()
      environment.error(
        "\(counted(made.objects, "object")) written to \(counted(made.tables, "table")) in \(output).\n")
    }
  }
}

/// Forms of plain tables.
enum FlattenForm: String, CaseIterable { case sqlite, csv, ndjson }
