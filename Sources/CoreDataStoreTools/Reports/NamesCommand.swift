import CoreData
import CoreDataModelSchema
import CoreDataToolKit

extension Command {
  /// `coredata store names`.
  static let names = Command(
    CommandSyntax(
      "names", summary: "List the names of a store's entities, or of an entity's properties.",
      discussion: ["One on a line, for scripts; the completion of shells asks it."],
      examples: ["coredata store names Books.sqlite", "coredata store names Books.sqlite Book"],
      options: [StoreArguments.model],
      operands: [
        StoreArguments.store,
        CommandSyntax.Operand(
          "ENTITY", isOptional: true, names: .entities,
          "List the properties of this entity and its subentities."),
      ], exitCodes: StoreArguments.exitCodes)
  ) { arguments, environment in
    let input = try StoreInput(arguments, environment)
    try StoreInput.translating(input.path) {
      let layout = try ModelLayout(input.model.schema)
      var names = layout.layouts.map(\.entityName)
      if arguments.operands.count > 1 {
        names = layout.storedProperties(of: try layout.entity(named: arguments.operands[1]))
      }
      try environment.output(names.map { $0 + "\n" }.joined())
    }
  }
}
