import CoreDataModelSchema

/// Supplies the accessors of `@NSManaged` declarations: on Apple's platforms the Objective-C runtime creates
/// them, here they are generated in a source file of the same module.
package enum ManagedAccessors {
  /// A source file: its path, used in messages and in the symbols of private declarations, and its text.
  package struct Source: Sendable {
    package let path: String
    package let text: String

    package init(path: String, text: String) {
      self.path = path
      self.text = text
    }
  }

  /// Another module whose types the sources use.
  package struct Dependency: Sendable {
    package let module: String
    package let sources: [Source]

    package init(module: String, sources: [Source]) {
      self.module = module
      self.sources = sources
    }
  }

  /// Generates the accessors for a module's sources.
  ///
  /// - Parameters:
  /// - schemas: Models of the module, which distinguish primitive accessors from properties.
  /// - Returns: The source, and the declarations without accessors, with location and reason.
  package static func generate(
    module: String, sources: [Source], dependencies: [Dependency] = [], schemas: [ModelSchema] = []
  ) -> (text: String, problems: [SourceProblem]) {
    var scanned = ScannedModule(name: module)
    for source in sources { SourceScanner.scan(source.text, file: source.path, into: &scanned) }
    // Classes that the plugin writes are named by declarations as well.
    for schema in schemas { _addGenerated(schema, to: &scanned) }
    var others: [ScannedModule] = []
    for dependency in dependencies {
      var other = ScannedModule(name: dependency.module)
      for source in dependency.sources { SourceScanner.scan(source.text, file: source.path, into: &other) }
      others.append(other)
    }
    let modelled = Set(
      schemas.flatMap(\.entities).flatMap { entity in
        entity.attributes.map(\.name) + entity.relationships.map(\.name)
          + entity.fetchedProperties.map(\.traits.name)
      })
    var printer = AccessorPrinter(TypeCatalogue(module: scanned, dependencies: others), modelled: modelled)
    let text = printer.print(scanned) ?? "// No @NSManaged declaration in this module.\n"
    return (text, scanned.problems + printer.problems)
  }

  private static func _addGenerated(_ schema: ModelSchema, to module: inout ScannedModule) {
    guard let names = try? ClassNames(schema) else { return }
    for entity in schema.entities where entity.codeGeneration == .class {
      guard let name = names.className(of: entity) else { continue }
      module.types.append(
        ScannedType(
          path: [name], kind: .nominal(.class), access: .public, isGeneric: false, inherits: nil, file: "",
          line: 0))
    }
  }
}
