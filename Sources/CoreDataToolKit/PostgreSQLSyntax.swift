/// The syntax of `coredata postgres`, shared by the main tool and the program for PostgreSQL.
package enum PostgreSQLSyntax {
  package static let name = "postgres"
  package static let summary = "Prepare, migrate, watch and copy stores in PostgreSQL databases."

  package static let schema = CommandSyntax(
    "schema", summary: "Print the tables of a store as SQL, and the rights that a program needs.",
    discussion: [
      "For databases in which programs may not create tables: the script makes the schema of an empty store for the model, "
        + "with comments, indexes and the store's own tables, and grants a role what is needed to read and write objects.",
      "A program that opens the store as that role creates nothing. It compares the schema with its model, and its rights with "
        + "those that it needs, and fails with a list of what is missing.",
    ],
    examples: [
      "coredata postgres schema Books.xcdatamodeld --schema books --role reader",
      "coredata postgres schema Books.xcdatamodeld > books.sql",
    ],
    options: [
      .value("schema", "NAME", "Name of the store's schema; 'coredata' without it."),
      .value("role", "NAME", "Name of the role that programs use; 'app' without it. It must exist."),
      .flag(
        "without-icu", "Write the case of letters into the functions, for a server without the library ICU."),
    ],
    operands: [
      CommandSyntax.Operand(
        "MODEL", "A .xcdatamodeld, .xcdatamodel, .momd or .mom, or an SQLite store that has its model inside."
      )
    ],
    exitCodes: [.success, .usage, .badInput, .noInput])

  package static let copy = CommandSyntax(
    "copy", summary: "Copy a store on a server into a new SQLite file.",
    discussion: [
      "Reads the store's URL, postgresql://user@host/database?schema=name, from standard input, so that no list of processes shows "
        + "it. All objects are those of one moment, with their relationships and the model; primary keys are new ones, and the "
        + "history stays behind. Programs go on saving meanwhile.",
      "'coredata store' and 'coredata explore' take such URLs themselves, and read a copy that this command makes.",
    ],
    examples: ["coredata postgres copy Orders.sqlite < url.txt"],
    options: [
      .value(
        "keys", "FILE",
        "Also write which primary key each object's copy has, as JSON: by root entity, from the old keys to the new ones."
      )
    ],
    operands: [CommandSyntax.Operand("FILE", "The SQLite store to make; nothing may be there.")],
    exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput, .temporaryFailure])

  private static let _reading =
    "Reads the store's URL, postgresql://user@host/database?schema=name, from standard input, so that no list of processes shows it."

  package static let status = CommandSyntax(
    "status", summary: "Show the versions of a store's model, and how large the store is.",
    discussion: [
      _reading,
      "Programs with the versions that are listed as writing may be running at the same time. All others get an error from their "
        + "next save.",
    ],
    examples: ["coredata postgres status < url.txt"],
    exitCodes: [.success, .usage, .badInput, .noInput, .temporaryFailure])

  package static let migrate = CommandSyntax(
    "migrate", summary: "Show what a migration of a store to a model would do, or perform it.",
    discussion: [
      _reading,
      "A version that adds, and leaves out what need not have a value, takes milliseconds, and programs with the present version "
        + "go on: what it leaves out stays in the tables, hidden, until --contract drops it. A version that renames takes as "
        + "little, and any other copies tables while programs wait; the next save of programs with the present version "
        + "fails: stop them before, and start the new ones after it. Run the command as the schema's owner before the programs "
        + "are started, so that they need not migrate themselves.",
      "Mapping models and stages are the program's; a migration that needs them is left to the program.",
    ],
    examples: [
      "coredata postgres migrate Books.xcdatamodeld < url.txt",
      "coredata postgres migrate Books.xcdatamodeld --apply < url.txt",
      "coredata postgres migrate Books.xcdatamodeld --contract < url.txt",
    ],
    options: [
      .flag("plan", "Only show what would be done, as without any option."),
      .flag("apply", "Migrate the store."),
      .flag(
        "contract",
        "End the earlier versions of the store's model, which MODEL must be, and drop what is hidden. Refused while their "
          + "programs are connected, other than through a pooler."),
      .flag("force", "Contract all the same: these programs get errors, and corrupt nothing."),
    ],
    operands: [
      CommandSyntax.Operand("MODEL", "The new version: a .xcdatamodeld, .xcdatamodel, .momd or .mom.")
    ],
    exitCodes: [.success, .usage, .badInput, .noInput, .temporaryFailure])

  package static let check = CommandSyntax(
    "check", summary: "Look for rows that no save leaves behind, and for missing parts of a store's schema.",
    discussion: [
      _reading,
      "Finds links to rows that are not there or of another entity, entities that the model does not have, values that it requires, "
        + "keys that will be given again, and indexes whose build has ended early. Other programs' SQL may leave such behind. "
        + "Reads all tables in one state while programs go on, and changes nothing.",
    ],
    examples: ["coredata postgres check < url.txt"],
    exitCodes: [.success, .usage, .badInput, .noInput, .temporaryFailure])

  package static let tidy = CommandSyntax(
    "tidy", summary: "Delete what a store no longer needs: old receipts, and if asked old history.",
    discussion: [
      _reading,
      "A receipt tells whether a save whose connection was lost is stored. Programs delete those that are older than a day, if "
        + "their role may; this command does it for those that may not.",
      "Programs that read the history must have read what is deleted: a token of an earlier time then fails with 134301.",
    ],
    examples: ["coredata postgres tidy < url.txt", "coredata postgres tidy --history 30 < url.txt"],
    options: [.value("history", "DAYS", "Delete transactions of the history that are older.")],
    exitCodes: [.success, .usage, .badInput, .noInput, .temporaryFailure])

  /// The implementation of a command.
  package typealias Run = @Sendable (ParsedArguments, ToolEnvironment) throws -> Void

  /// The syntax of each command, in the order of the help.
  package enum Name: CaseIterable, Sendable {
    case schema, status, check, migrate, tidy, copy

    fileprivate var _syntax: CommandSyntax {
      switch self {
      case .schema: PostgreSQLSyntax.schema
      case .status: PostgreSQLSyntax.status
      case .check: PostgreSQLSyntax.check
      case .migrate: PostgreSQLSyntax.migrate
      case .tidy: PostgreSQLSyntax.tidy
      case .copy: PostgreSQLSyntax.copy
      }
    }
  }

  /// `coredata postgres` with the implementations of its commands.
  package static func command(_ run: (Name) -> Run) -> Command {
    Command(
      name, summary: summary, examples: ["coredata postgres schema Books.xcdatamodeld"],
      subcommands: Name.allCases.map { Command($0._syntax, run: run($0)) })
  }
}
