import CoreDataModelCodegen
import CoreDataToolKit

extension Command {
  /// `coredata store swiftdata`.
  static let swiftdata = Command(
    CommandSyntax(
      "swiftdata", summary: "Write SwiftData's @Model classes for a store.",
      discussion: [
        "The model is the one that the store carries with it, so no source of the program that wrote it is needed. The classes "
          + "open the store as it is. Structs stand for composite attributes; where the program had an enumeration, the struct has "
          + "the same form in the store. What SwiftData has no words for is named on standard error."
      ],
      examples: [
        "coredata store swiftdata Books.sqlite", "coredata store swiftdata Books.sqlite --output Models",
      ],
      options: [
        StoreArguments.model,
        .output("DIRECTORY", "Write the files there; without it, all of them go to standard output."), .force,
        .flag("json", "Write names and texts of the files as JSON; with --output, their paths."),
      ], operands: [StoreArguments.store], exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    let input = try StoreInput(arguments, environment)
    let result: SwiftDataCodegen.Result
    do {
      result = try SwiftDataCodegen.files(of: input.model.schema, isOfStore: true)
    } catch {
      throw ToolFailure(.badInput, "\(error).")
    }
    for remark in result.remarks { environment.error("warning: \(remark).\n") }
    try SourceFileOutput(result.files.map { ($0.name, $0.text) }).write(
      arguments, environment, none: "the store has no entities")
  }
}
