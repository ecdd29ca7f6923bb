import CoreDataToolKit

extension Command {
  /// `coredata store`: operations on a store file from the command line.
  package static let store = Command(
    "store", summary: "Look into store files; check, migrate, export and import them.",
    discussion: [
      "Stores are opened read-only, whatever has written them: the file, its write-ahead log and its external data "
        + "stay as they are. Only 'import', 'check --repair' and 'migrate' write: a file of "
        + "its own, unless 'migrate --in-place' is asked for.",
      "Of a store on a PostgreSQL server, by its URL, a copy is read that 'coredata-postgresql' makes in a temporary file: all "
        + "objects and the model, without history and with primary keys of its own. Put the password into a password file: "
        + "lists of processes show arguments.",
    ],
    examples: [
      "coredata store info Books.sqlite",
      "coredata store fetch Books.sqlite Book --where 'pages > 300' --sort title",
    ],
    subcommands: [
      .info, .entities, .names, .fetch, .show, .export, .import, .flatten, .search, .timeline, .diff, .check,
      .migrate, .history, .model, .swiftdata,
    ])
}

/// Arguments that several of the commands have.
enum StoreArguments {
  static let store = CommandSyntax.Operand(
    "STORE",
    "An SQLite store file, '-' for standard input, or postgresql://user@host/database?schema=name for a copy of a store on a server."
  )

  /// Rejects a store on a server for a command to which a copy of the store is useless.
  static func expectFile(_ arguments: ParsedArguments, _ reason: String) throws(ToolFailure) {
    guard ServerStore.isURL(arguments.operands[0]) else { return }
    throw ToolFailure(
      .usage, "'\(ServerStore.name(arguments.operands[0]))' is a store on a server. \(reason)")
  }

  static let model = OptionSyntax.value(
    "model", "FILE",
    "The model that the store was written with: a .xcdatamodeld, .xcdatamodel, .momd or .mom, or another store. "
      + "Without it the one inside the store.")

  static let zone = OptionSyntax.value(
    "zone", "ZONE",
    "Read and write moments in this time zone: a name such as Europe/Berlin, an offset such as +02:00, or 'local'. "
      + "Without it UTC.")

  static let json = OptionSyntax.flag("json", "Write JSON instead of text.")

  /// The zone of `--zone`.
  static func zone(_ arguments: ParsedArguments) throws(ToolFailure) -> TimeZoneText {
    guard let text = arguments.text("zone") else { return .utc }
    return try TimeZoneText(text)
  }

  /// The moment that an option names; nil without the option.
  static func moment(
    _ option: String, _ arguments: ParsedArguments, in zone: TimeZoneText
  ) throws(ToolFailure) -> TypedMoment? {
    guard let text = arguments.text(option) else { return nil }
    if let moment = TypedMoment(text, in: zone) { return moment }
    throw ToolFailure(
      .usage, "'\(text)' is no date. Write it as 2024-02-29, '2024-02-29 12:00' or 2024-02-29T12:00:00Z.")
  }

  static let exitCodes: [ExitCode] = [.success, .usage, .badInput, .noInput, .temporaryFailure]
}
