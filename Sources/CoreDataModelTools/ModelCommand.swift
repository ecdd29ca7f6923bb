import CoreDataToolKit

extension Command {
  /// `coredata model`: all operations on a model that need no store.
  package static let model = Command(
    "model", summary: "Show, check, compare and convert data models.",
    examples: ["coredata model show Books.xcdatamodeld", "coredata model check Books.xcdatamodeld"],
    subcommands: [
      .show, .check, .diff, .format, .compile, .generate, .swiftdata, .graph, .infer, .adopt,
    ])

  static let modelOperand = CommandSyntax.Operand(
    "MODEL",
    "A .xcdatamodeld, .xcdatamodel, .momd, .mom or .omo, or a SQLite store, which keeps a copy of its model; '-' "
      + "for standard input.")

  static let jsonOption = OptionSyntax.flag("json", "Write JSON instead of text.")
}
