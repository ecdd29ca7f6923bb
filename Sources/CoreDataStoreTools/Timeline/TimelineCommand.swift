import CoreData
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata store timeline`.
  static let timeline = Command(
    CommandSyntax(
      "timeline", summary: "List every date of every object, and the history's transactions, in order.",
      discussion: [
        "A line has the moment, the store if there are several, the object, the property, and a text that tells the object "
          + "apart. --since and --until take a date as --where does: '2021-03' is from the first to the last of its days.",
        "bodyfile is the form of The Sleuth Kit, which mactime and others read: creation, access or modification as the "
          + "property's name suggests. A terminal gets the last \(TimelineOutput.screenLimit) events unless --limit says otherwise.",
      ],
      examples: [
        "coredata store timeline Books.sqlite --since 2024-01 --until 2024-06",
        "coredata store timeline *.sqlite --format csv --zone local",
        "coredata store timeline Books.sqlite --entity Book --limit 20",
      ],
      options: [
        StoreArguments.model, .value("since", "DATE", "Only events from then on."),
        .value("until", "DATE", "Only events up to then."),
        OptionSyntax.value("entity", "NAME", "Only objects of this entity and its subentities.").completed(
          with: .entities),
        .value("limit", "N", "The last so many events."), StoreArguments.zone,
        .value(
          "format", "FORM", choices: TimelineOutput.Form.allCases.map(\.rawValue),
          "text (the default), csv, ndjson or bodyfile."),
      ], operands: [StoreArguments.store.repeated], exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    let zone = try StoreArguments.zone(arguments)
    let begin = try StoreArguments.moment("since", arguments, in: zone)?.begin ?? -.infinity
    let end = try StoreArguments.moment("until", arguments, in: zone)?.end ?? .infinity
    let form: TimelineOutput.Form = try arguments.choice("format") ?? .text
    var limit = try arguments.integer("limit", in: 1...Int(Int32.max))
    let terminal = environment.outputTerminal
    let isScreen = form == .text && terminal.isInteractive
    if isScreen, limit == nil { limit = TimelineOutput.screenLimit }
    // A copy of a stream lives as long as its input.
    var inputs: [StoreInput] = []
    var sources: [TimelineSource] = []
    defer {
      for source in sources { source.reader.close() }
      withExtendedLifetime(inputs) {}
    }
    var events: [TimelineEvent] = []
    for path in arguments.operands {
      let input = try StoreInput(path, model: arguments.text("model"), environment)
      let reader = try input.reader()
      let source = TimelineSource(input.name, reader, zone)
      inputs.append(input)
      sources.append(source)
      try StoreInput.translating(input.path) {
        let entity = try arguments.text("entity").map { try reader.layout.entity(named: $0) }
        try source.add(to: &events, store: sources.count - 1, from: begin, to: end, entity: entity)
      }
    }
    events.sort(by: TimelineEvent.isBefore)
    let shown = events.suffix(limit ?? .max)
    let output = TimelineOutput(
      sources, zone, FileSink(standardOutputOf: environment), width: isScreen ? terminal.width : nil)
    try output.write(shown, as: form)
    guard form == .text else { return }
    let count = counted(events.count, "event")
    try environment.output(
      shown.count < events.count ? "The last \(grouped(shown.count)) of \(count).\n" : "\(count).\n")
  }
}
