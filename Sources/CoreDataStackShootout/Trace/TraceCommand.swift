import CoreData
import CoreDataModelSchema
import CoreDataStoreTools
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata trace`.
  package static let trace = Command(
    "trace", summary: "Show what a program's contexts have done, from a recording.",
    discussion: [
      "A program that runs with COREDATA_RECORD=trace-%p.ndjson writes its fetches, faults, saves and merges there, with their times; "
        + "'%p' is the number of the process. Values are recorded with COREDATA_RECORD_VALUES=1 only. 'coredata shootout "
        + "--replay' runs a recording on other stack designs."
    ],
    examples: [
      "COREDATA_RECORD=trace-%p.ndjson ./App", "coredata trace show trace-*.ndjson --from Shop.sqlite",
    ],
    subcommands: [._traceShow])

  private static let _traceShow = Command(
    CommandSyntax(
      "show",
      summary:
        "Summarize recordings: slow and repeated fetches, faults one by one, saves and merges on main.",
      discussion: [
        "Several recordings are merged by time. With a store, or a model, relationships are named; with a store, the SQL and the plan of "
          + "the slowest fetches are shown."
      ],
      examples: [
        "coredata trace show trace-1234.ndjson",
        "coredata trace show trace-*.ndjson --from Shop.sqlite --json",
      ],
      options: [
        .value("from", "STORE", "The program's store, which is only read."),
        .value(
          "model", "FILE", "The program's model: a .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store."),
        .value("top", "N", "How many requests to show, 10 if not given."),
        .flag("json", "Write JSON instead of text."),
        .value(
          "report", "FILE", "Also write a page with a time line: one HTML file that needs nothing else."),
        .force,
      ],
      operands: [CommandSyntax.Operand("RECORDING", repeats: true, "A file that a program has written.")],
      exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let top = try arguments.integer("top", in: 1...1000) ?? 10
    let trace = try TraceReader.read(arguments.operands)
    let summary = TraceSummary(trace)
    let plans = try TracePlans(arguments.text("from"), model: arguments.text("model"), environment)
    let report = TraceReport(trace, summary, plans, top: top)
    if let path = arguments.text("report") {
      let page = try OutputFile(path: path, replaces: arguments.replacesOutputs, environment)
      try page.write(report.html)
      if page.isStandardOutput { return }
      environment.error("The page is '\(path)'.\n")
    }
    try environment.output(
      arguments.has("json")
        ? report.json.text() + "\n" : report.text(usesColor: environment.outputTerminal.usesColor))
  }
}
