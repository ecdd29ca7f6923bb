/// Writes the versions of a model, and the plan that connects them.
enum VersionedSchemaPrinter {
  static func print(_ plan: ModelClassPlan, name: String, number: Int, in source: inout SourceText) {
    source.block("enum \(name): VersionedSchema") { source in
      source.line("static var versionIdentifier: Schema.Version { Schema.Version(\(number), 0, 0) }")
      source.line()
      let models = plan.classes.map { "\($0.name).self" }.joined(separator: ", ")
      source.block("static var models: [any PersistentModel.Type]") { source in source.line("[\(models)]") }
      for described in plan.classes {
        source.line()
        ModelClassPrinter.print(described, in: &source)
      }
    }
  }

  static func printPlan(_ name: String, versions: [String], in source: inout SourceText) {
    source.documentation("Leads a store from each version of the model to the next.")
    source.block("enum \(name): SchemaMigrationPlan") { source in
      let schemas = versions.map { "\($0).self" }.joined(separator: ", ")
      source.block("static var schemas: [any VersionedSchema.Type]") { source in source.line("[\(schemas)]") }
      source.line()
      source.block("static var stages: [MigrationStage]") { source in
        let stages = zip(versions, versions.dropFirst()).map { older, newer in
          ".lightweight(fromVersion: \(older).self, toVersion: \(newer).self)"
        }
        guard !stages.isEmpty else { return source.line("[]") }
        source.line("[")
        for stage in stages { source.line("  \(stage),") }
        source.line("]")
      }
    }
  }
}
