import ModelFiles
import ModelSchema
import ToolKit

extension Command {
  /// `coredata model`: everything that can be done with a model without opening a store.
  package static let model = Command(
    "model", summary: "Show, check, compare and convert data models.",
    subcommands: [.show, .check, .diff, .format, .generate, .graph, .adopt])

  static let modelOperand = CommandSyntax.Operand(
    "MODEL", "A .xcdatamodeld, .xcdatamodel, .momd or .mom.")

  static let jsonOption = OptionSyntax.flag("json", "Write JSON instead of text.")
}

/// Loads models for commands.
enum ModelInput {
  /// - Throws: `ToolFailure` that says what is wrong with the file, and where.
  static func load(_ path: String) throws(ToolFailure) -> ModelSchema {
    do {
      return try ModelFile.load(path: path)
    } catch {
      let isMissing = (error as? ModelFileError)?.reason == "there is no such file"
      throw ToolFailure(isMissing ? .noInput : .badInput, "\(error).")
    }
  }
}
