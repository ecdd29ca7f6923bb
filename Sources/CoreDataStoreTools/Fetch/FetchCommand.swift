import CoreData
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata store fetch`.
  static let fetch = Command(
    CommandSyntax(
      "fetch", summary: "Show the objects of an entity that a predicate holds for.",
      discussion: [
        "Predicates are those of NSPredicate: comparisons with ==, <, BEGINSWITH, CONTAINS[cd], IN and so on, key paths "
          + "through relationships, ANY, SUBQUERY and aggregates.",
        "Constants are read as the type of what they are compared with: dates as ISO 8601, as a whole day, minute or second for "
          + "== and IN (added == '2021-03-07', added > '2021-03-07 14:05', '2021-03' is a month); UUIDs, numbers, true and false "
          + "as text; objects by the name that tables show (author == 'Author/p12'). A text that does not fit is an error.",
        "Columns are properties, or paths through to-one relationships (author.name); '$id' is the object itself. To-many "
          + "relationships show the number of their members in tables, the members in JSON and CSV.",
        "A table on a terminal ends after \(FetchOutput.screenLimit) objects unless --limit says otherwise. --sql shows the statement "
          + "that a fetch of the same objects runs, and the values for its question marks; --explain also how SQLite goes "
          + "about it, and which index would help.",
      ],
      examples: [
        "coredata store fetch Books.sqlite Book --sort title --limit 20",
        "coredata store fetch Books.sqlite Book --where 'author.name CONTAINS[cd] \"mann\"'",
        "coredata store fetch Books.sqlite Book --where \"added BETWEEN {'2024-01-01', '2024-06-30'}\" --zone Europe/Berlin",
        "coredata store fetch Books.sqlite Book --where \"author == 'Author/p1'\"",
        "coredata store fetch Books.sqlite Book --columns 'title,author.name' --format csv",
        "coredata store fetch Books.sqlite Book --where 'pages > 300' --explain",
      ],
      options: [
        StoreArguments.model,
        .value("where", "PREDICATE", "Only objects that this holds for."), StoreArguments.zone,
        OptionSyntax.value(
          "sort", "KEYS",
          "Sort by these keys, separated by commas, '-' before one for descending; without it by age."
        ).completed(with: .properties),
        .value("limit", "N", "At most so many objects."), .value("offset", "N", "Skip so many objects."),
        OptionSyntax.value("columns", "PATHS", "Show these columns, separated by commas.").completed(
          with: .properties),
        .flag("exact", "Leave out objects of subentities."),
        .flag("count", "Show the number of objects only."),
        .flag("sql", "Show the SQL instead of the objects."),
        .flag("explain", "Show the SQL and SQLite's plan for it instead of the objects."),
        .value(
          "format", "FORM", choices: FetchOutput.Form.allCases.map(\.rawValue),
          "table (the default), json, ndjson or csv."), StoreArguments.json,
      ],
      operands: [
        StoreArguments.store,
        CommandSyntax.Operand("ENTITY", names: .entities, "Name of an entity in the model."),
      ],
      exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    let form: FetchOutput.Form? = try arguments.choice("format")
    if form != nil, arguments.has("json") { throw UsageError.conflict("--format", "--json") }
    for (one, other) in [("count", "sql"), ("count", "explain"), ("format", "sql"), ("format", "explain")]
    where arguments.has(one) && arguments.has(other) {
      throw UsageError.conflict("--\(one)", "--\(other)")
    }
    let zone = try StoreArguments.zone(arguments)
    let input = try StoreInput(arguments, environment)
    try input.reading { reader in
      let entity = try reader.layout.entity(named: arguments.operands[1])
      var query = StoreQuery(entity: entity.entityName)
      query.predicate = try arguments.text("where").map {
        try TypedPredicate.predicate($0, of: entity, in: reader.layout, zone: zone) { name, key in
          (try? reader.objectID(name, key)) ?? nil
        }
      }
      query.sorting = try FetchSorting.keys(arguments.text("sort"), of: entity, in: reader.layout)
      query.includesSubentities = !arguments.has("exact")
      query.limit = try arguments.integer("limit", in: 1...Int(Int32.max))
      query.offset = try arguments.integer("offset", in: 0...Int(Int32.max)) ?? 0
      if arguments.has("sql") || arguments.has("explain") {
        guard let statement = try reader.statement(query) else { return }
        let report = FetchExplanation(statement, entity, reader, explains: arguments.has("explain"))
        try environment.output(arguments.has("json") ? report.json.text() + "\n" : report.text)
        return
      }
      if arguments.has("count") {
        let count =
          arguments.has("limit") || arguments.has("offset")
          ? try reader.keys(query).count : try reader.count(query)
        try environment.output(arguments.has("json") ? "{\"count\":\(count)}\n" : "\(count)\n")
        return
      }
      let form = form ?? (arguments.has("json") ? .json : .table)
      var total: Int?
      if form == .table, environment.outputTerminal.isInteractive, query.limit == nil {
        query.limit = FetchOutput.screenLimit
        total = max(0, try reader.count(query) - query.offset)
      }
      let columns =
        if let texts = arguments.text("columns") {
          try texts.split(separator: ",").map {
            try FetchColumn(String($0.drop { $0 == " " }), of: entity, in: reader.layout)
          }
        } else {
          try FetchColumn.standard(
            of: entity, in: reader.layout, withMembers: form == .json || form == .ndjson,
            isTable: form == .table)
        }
      try FetchOutput(columns, reader, zone, dropsEmpty: !arguments.has("columns"), total: total).write(
        try reader.keys(query), as: form, environment)
    }
  }
}

/// Reads `--sort`.
enum FetchSorting {
  /// - Throws: `ToolFailure` for an invalid key.
  static func keys(
    _ text: String?, of entity: PropertyLayout, in layout: ModelLayout
  ) throws(ToolFailure) -> [(key: String, isAscending: Bool)] {
    var keys: [(key: String, isAscending: Bool)] = []
    for part in text?.split(separator: ",") ?? [] {
      let word = part.drop { $0 == " " }
      let isAscending = !word.hasPrefix("-")
      let key = String(isAscending ? word : word.dropFirst())
      // The same paths as for columns, with the same message for an invalid one.
      _ = try FetchColumn(key, of: entity, in: layout)
      guard key != FetchColumn.identifier else {
        throw ToolFailure(.usage, "Objects cannot be sorted by '$id'. Sort by a property.")
      }
      keys.append((key, isAscending))
    }
    return keys
  }
}
