/// The syntax of `coredata postgres`, shared by the main tool and the program for PostgreSQL.
package enum PostgreSQLSyntax {
  package static let name = "postgres"
  package static let summary = "Prepare and copy stores in PostgreSQL databases."

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
    operands: [CommandSyntax.Operand("FILE", "The SQLite store to make; nothing may be there.")],
    exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput, .temporaryFailure])

  /// `coredata postgres` with the implementations of its commands.
  package static func command(
    schema: @escaping @Sendable (ParsedArguments, ToolEnvironment) throws -> Void,
    copy: @escaping @Sendable (ParsedArguments, ToolEnvironment) throws -> Void
  ) -> Command {
    Command(
      name, summary: summary, examples: ["coredata postgres schema Books.xcdatamodeld"],
      subcommands: [Command(Self.schema, run: schema), Command(Self.copy, run: copy)])
  }
}
