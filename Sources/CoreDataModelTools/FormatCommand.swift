import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model format`.
  static let format = Command(
    CommandSyntax(
      "format", summary: "Write a model as canonical XML: models that mean the same give the same bytes.",
      discussion: [
        "Reads compiled models and stores too. Places in the editor's diagram are not kept. With --check nothing is written, "
          + "and the code is 65 if the file is not in that form already."
      ],
      examples: [
        "coredata model format Books.momd", "coredata model format Books.xcdatamodeld --check",
      ],
      options: [
        .output("FILE", "Write there instead of to standard output."), .force,
        .flag("check", "Only say whether the file is in canonical form."),
        .flag("json", "Write the whole model as JSON instead of XML."),
      ], operands: [modelOperand],
      exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    for (one, other) in [("check", "output"), ("check", "json")]
    where arguments.has(one) && arguments.has(other) {
      throw UsageError.conflict("--\(one)", "--\(other)")
    }
    let input = try SpooledInput(path: arguments.operands[0])
    let path = input.path
    let schema = try ModelInput.load(input)
    let text: String
    do {
      text =
        arguments.has("json")
        ? ModelJSON(schema).json.text() + "\n" : try ModelContentsWriter.write(schema, path: path)
    } catch {
      throw input.naming(ToolFailure(.badInput, "\(error)."))
    }
    if arguments.has("check") {
      guard try ModelFile.text(path: path) == text else {
        throw ToolFailure(
          .badInput, "'\(input.name)' is not in canonical form. 'coredata model format' writes it so.")
      }
      try environment.output("\(input.name): in canonical form.\n")
      return
    }
    try arguments.outputFile(environment).write(text)
  }
}
