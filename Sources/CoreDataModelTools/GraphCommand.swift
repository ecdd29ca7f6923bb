import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata model graph`.
  static let graph = Command(
    CommandSyntax(
      "graph", summary: "Draw a model's entities.",
      examples: [
        "coredata model graph Books.xcdatamodeld --format svg --output books.svg",
        "coredata model graph Books.sqlite | dot -Tpdf > books.pdf",
      ],
      options: [
        .choice("format", "FORM", ModelGraph.Form.self, "dot (the default), mermaid or svg."),
        .output("FILE", "Write there instead of to standard output."), .force,
        .flag("json", "Write entities and lines as JSON instead of drawing them."),
      ], operands: [modelOperand], exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    if arguments.has("json"), arguments.has("format") { throw UsageError.conflict("--json", "--format") }
    let form: ModelGraph.Form = try arguments.choice("format") ?? .dot
    let graph = ModelGraph(try ModelInput.load(arguments.operands[0]))
    let text = arguments.has("json") ? graph.json.text() + "\n" : graph.text(form)
    try arguments.outputFile(environment).write(text)
  }
}
