import CoreData
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata store search`.
  static let search = Command(
    CommandSyntax(
      "search", summary: "Find a text in all values of stores, also inside of archives and compressed data.",
      discussion: [
        "Looks into texts, URIs, UUIDs, numbers and dates as they are printed, and into bytes: property lists and keyed archives, "
          + "gzip and zlib, JSON and other text, and messages in the protobuf encoding, each inside of the others. A line has "
          + "the object, the property with the way to the text inside of it, and the text around the first place.",
        "Upper and lower case are the same, and so are letters with and without diacritics, unless --case or --diacritics is given.",
      ],
      examples: [
        "coredata store search Books.sqlite berlin",
        "coredata store search *.sqlite --regex '[0-9]{4}-[0-9]{4}'",
        "coredata store search Notes.sqlite Café --diacritics --json",
      ],
      options: [
        StoreArguments.model, .flag("regex", "TEXT is a regular expression."),
        .flag("case", "Tell upper and lower case apart."),
        .flag("diacritics", "Tell letters with and without diacritics apart."),
        OptionSyntax.value("entity", "NAME", repeats: true, "Only this entity, without its subentities.")
          .completed(with: .entities),
        .value("limit", "N", "At most so many places."), StoreArguments.zone,
        .flag("json", "Write a JSON object on a line for each place."),
      ],
      operands: [
        StoreArguments.store.repeated, CommandSyntax.Operand("TEXT", "What to look for, after the stores."),
      ],
      exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    let zone = try StoreArguments.zone(arguments)
    let sought = try TextSought(
      arguments.operands.last ?? "", isExpression: arguments.has("regex"), matchesCase: arguments.has("case"),
      matchesMarks: arguments.has("diacritics"))
    let limit = try arguments.integer("limit", in: 1...Int(Int32.max)) ?? .max
    let paths = arguments.operands.dropLast()
    let sink = FileSink(standardOutputOf: environment)
    var count = 0
    for path in paths where count < limit {
      let input = try StoreInput(path, model: arguments.text("model"), environment)
      try input.reading { reader in
        let entities =
          try arguments.values["entity"].map { try $0.map { try reader.layout.entity(named: $0) } }
          ?? reader.layout.layouts.filter { !$0.isAbstract }
        let output = SearchOutput(
          reader, sought, environment.outputTerminal, store: paths.count > 1 ? input.name : nil,
          isJSON: arguments.has("json"))
        let progress = ProgressBar(terminal: environment.errorTerminal, delay: 1, write: environment.error)
        defer { progress.finish() }
        var incomplete: [String] = []
        try StoreSearch(reader, sought, zone).run(
          entities, progress: { progress.update($0, $1) },
          incomplete: { object, property in
            if incomplete.count < 5 { incomplete.append("\(output.name(object)) \(property)") }
          }
        ) { hit in
          count += 1
          try sink.write(try output.line(hit))
          if environment.outputTerminal.isInteractive { try sink.flush() }
          return count < limit
        }
        progress.finish()
        if !incomplete.isEmpty {
          environment.error(
            "warning: not all of the content of \(incomplete.joined(separator: ", ")) was searched: it exceeds the limits or is damaged.\n"
          )
        }
      }
    }
    if !arguments.has("json") { try sink.write("\(counted(count, "place")).\n") }
    try sink.finish()
  }
}

/// Writes what a search finds.
struct SearchOutput {
  private let _reader: StoreReader
  private let _sought: TextSought
  private let _terminal: Terminal
  private let _store: String?
  private let _isJSON: Bool
  private let _text: ValueText

  /// - Parameter store: The store's name, if several are searched.
  init(_ reader: StoreReader, _ sought: TextSought, _ terminal: Terminal, store: String?, isJSON: Bool) {
    (_reader, _sought, _terminal, _store, _isJSON) = (reader, sought, terminal, store, isJSON)
    _text = ValueText(reader.layout)
  }

  func name(_ object: StoredReference) -> String { _text.identifier(object) }

  func line(_ hit: StoreSearch.Hit) throws -> String {
    let (before, match, after) = _sought.excerpt(hit.text, room: 40)
    let place = ([hit.property] + hit.path).joined(separator: "/")
    guard _isJSON else {
      let marked = TextStyle.bold.applied(to: match, usesColor: _terminal.usesColor)
      let head = [_store, name(hit.object), place].compactMap { $0 }.joined(separator: "  ")
      return "\(head)  \(before)\(marked)\(after)\n"
    }
    var fields = [
      ("object", name(hit.object)), ("property", hit.property), ("path", hit.path.joined(separator: "/")),
      ("excerpt", before + match + after), ("match", match),
    ]
    if let _store { fields.insert(("store", _store), at: 0) }
    return "{" + fields.map { "\(JSONText.quoted($0)):\(JSONText.quoted($1))" }.joined(separator: ",") + "}\n"
  }
}
