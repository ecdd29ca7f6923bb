import CoreDataModelCodegen
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model generate`.
  static let generate = Command(
    CommandSyntax(
      "generate", summary: "Write the classes of a model's entities as source files to keep.",
      discussion: [
        "A build with CoreDataModelPlugin needs none of this: it writes the classes of entities whose code generation is "
          + "'class' or 'category' by itself. The files written here compile on Apple's platforms, and elsewhere with the "
          + "plugin's accessors; set the entities' code generation to manual. --form accessors shows the classes as the plugin "
          + "writes them."
      ],
      examples: [
        "coredata model generate Books.xcdatamodeld --output Sources/Books",
        "coredata model generate Books.xcdatamodeld --entity Book --form accessors",
      ],
      options: [
        .output("DIRECTORY", "Write the files there; without it, all of them go to standard output."), .force,
        .value("entity", "NAME", repeats: true, "Only this entity's class."),
        .choice("form", "FORM", ClassStyle.self, "managed (@NSManaged, the default) or accessors."),
        .flag("json", "Write names and texts of the files as JSON; with --output, their paths."),
      ], operands: [modelOperand], exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let schema = try ModelInput.load(arguments.operands[0])
    let names = schema.entities.map(\.name)
    for name in arguments.values["entity"] ?? [] where !names.contains(name) {
      throw ToolFailure(
        .usage,
        "The model has no entity '\(name)'."
          + SpellingSuggestion.question(
            about: name, among: names, or: " It has \(names.sorted().joined(separator: ", "))."))
    }
    let style: ClassStyle = try arguments.choice("form") ?? .annotated
    let files: [GeneratedFile]
    do {
      files = try ModelCodegen.files(
        of: schema, entities: arguments.values["entity"].map(Set.init), style: style)
    } catch {
      throw ToolFailure(.badInput, "\(error).")
    }
    try SourceFileOutput(files.map { ($0.name, $0.text) }).write(
      arguments, environment,
      none: "no entity\(arguments.values["entity"] == nil ? "" : " chosen") names a class")
  }
}
