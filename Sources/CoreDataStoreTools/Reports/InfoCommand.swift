import CoreData
import CoreDataToolKit

extension Command {
  /// `coredata store info`.
  static let info = Command.forEach(
    CommandSyntax(
      "info", summary: "Say what a store file is, what is in it and how it is.",
      discussion: ["'Health' is the result of 'coredata store check', which says more."],
      examples: ["coredata store info Books.sqlite", "coredata store info Books.sqlite --json"],
      options: [StoreArguments.model, StoreArguments.json], operands: [StoreArguments.store.repeated],
      exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    let input = try StoreInput(arguments, environment)
    let findings = try CheckRun(limit: 10, environment: environment).findings(input.path, input)
    let summary = try StoreInput.translating(input.path) {
      // A file that does not match its model is summarized nevertheless.
      guard let reader = try? input.reader() else {
        return try StoreSummary(input, StoreFileFacts.open(path: input.path), nil, findings)
      }
      defer { reader.close() }
      let counts = (try? reader.counts()) ?? [:]
      return try StoreSummary(input, reader.connection, EntityListing(reader, counts: counts), findings)
    }
    try environment.output(
      arguments.has("json") ? summary.json.text() + "\n" : summary.text(environment.outputTerminal))
  }
}
