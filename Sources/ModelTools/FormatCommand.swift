import Foundation
import ModelFiles
import ModelSchema
import ToolKit

extension Command {
  /// `coredata model format`.
  static let format = Command(
    CommandSyntax(
      "format", summary: "Write a model as canonical XML: models that mean the same give the same bytes.",
      discussion: ["Reads compiled models too. Places in the editor's diagram are not kept."],
      options: [.value("output", "FILE", "Write there instead of to standard output.")], operands: [modelOperand],
      exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let schema = try ModelInput.load(arguments.operands[0])
    let text: String
    do {
      text = try ModelContentsWriter.write(schema)
    } catch {
      throw ToolFailure(.badInput, "\(error).")
    }
    if let output = arguments.text("output") {
      try OutputFile(path: output).write(text)
    } else {
      environment.output(text)
    }
  }
}
