/// The syntax of `coredata explore`, shared by the main tool and the explorer.
package enum ExploreSyntax {
  package static let command = CommandSyntax(
    "explore", summary: "Look at a store in the browser.",
    discussion: [
      "Prints an address and serves the store there until ctrl-C: its entities, tables, objects, history, SQL, model and health. "
        + "The store is opened read-only unless '--edit' is given, and pages follow what other processes write.",
      "Of a store on a PostgreSQL server a copy is shown, as it was at the start, without history.",
      "The address has a random token, without which nothing is shown. Only this machine can reach it.",
    ],
    examples: [
      "coredata explore Books.sqlite --open", "coredata explore Books.sqlite --against Backup.sqlite",
      "coredata explore Books.sqlite --edit --author anna",
      "coredata explore Books.sqlite --model Books.xcdatamodeld --port 8080",
    ],
    options: [
      .value(
        "model", "FILE",
        "The model that the store was written with: a .xcdatamodeld, .xcdatamodel, .momd or .mom, or another store. Without it "
          + "the one inside the store."),
      .value(
        "against", "STORE", "Compare with this store, for example an older copy: a page shows what differs."),
      .value("port", "N", "Listen on this port; without it on any free one."),
      .value("listen", "ADDRESS", "Listen on this IPv4 address of the machine instead of 127.0.0.1."),
      .flag("open", "Open the address in the browser: with $BROWSER, or else xdg-open."),
      .flag("edit", "Let values be changed, and objects be added and deleted."),
      .value(
        "author", "NAME",
        "Who the store's history names as the author of changes; 'coredata explore' without it."),
    ],
    operands: [
      CommandSyntax.Operand(
        "STORE",
        "An SQLite store file, or postgresql://user@host/database?schema=name for a copy of a store on a server."
      )
    ],
    exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput, .temporaryFailure])
}
