import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model format`.
  static let format = Command.forEach(
    CommandSyntax(
      "format", summary: "Write a model as canonical XML: models that mean the same give the same bytes.",
      discussion: [
        "Reads compiled models and stores too. Places in the editor's diagram are not kept, nor what Xcode writes beside the model: "
          + "its version, and values that are the default. With --check nothing is written, and the code is 65 if the file is "
          + "neither in that form nor laid out as Xcode writes it."
      ],
      examples: [
        "coredata model format Books.momd", "coredata model format Books.xcdatamodeld --check",
      ],
      options: [
        .output("FILE", "Write there instead of to standard output."), .force,
        .flag("check", "Only say whether the file is in canonical form."),
        .flag("json", "Write the whole model as JSON instead of XML."),
      ], operands: [modelOperand.repeated],
      exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    for (one, other) in [("check", "output"), ("check", "json")]
    where arguments.has(one) && arguments.has(other) {
      throw UsageError.conflict("--\(one)", "--\(other)")
    }
    let input = try SpooledInput(path: arguments.operands[0])
    let path = input.path
    let schema: ModelSchema
    do throws(ModelFileError) {
      let (model, remarks) = try ModelInput.review(path)
      schema = model
      // What is misspelt would be gone from the file that is written.
      if let remark = remarks.first(where: { $0.kind == .misspelt }) {
        throw ModelFileError(
          path: try ModelInput.file(path), line: remark.line, column: remark.column, reason: remark.message)
      }
    } catch {
      throw input.naming(ModelInput.failure(error))
    }
    let text: String
    do {
      text =
        arguments.has("json")
        ? ModelJSON(schema).json.text() + "\n" : try ModelContentsWriter.write(schema, path: path)
    } catch {
      throw input.naming(ToolFailure(.badInput, "\(error)."))
    }
    if arguments.has("check") {
      let present = try ModelFile.text(path: path)
      guard present == text || present.map(ModelContentsForm.isKept) ?? false else {
        throw ToolFailure(
          .badInput, "'\(input.name)' is not in canonical form. 'coredata model format' writes it so.")
      }
      try environment.output(
        "\(input.name): \(present == text ? "in canonical form" : "as Xcode writes it").\n")
      return
    }
    try arguments.outputFile(environment).write(text)
  }
}
