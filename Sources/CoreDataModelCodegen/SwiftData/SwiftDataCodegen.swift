import CoreDataModelSchema
import Foundation

/// Writes SwiftData's `@Model` classes for the entities of a model, so that they open the stores written with it.
package enum SwiftDataCodegen {
  /// A version of a model, by the name of its file.
  package struct Version: Sendable {
    package let name: String
    package let schema: ModelSchema

    package init(name: String, schema: ModelSchema) {
      self.name = name
      self.schema = schema
    }
  }

  /// The generated source, and the parts that SwiftData cannot express.
  package struct Result: Sendable {
    package let files: [GeneratedFile]
    /// The parts of the model that the classes lack, in words.
    package let remarks: [String]
  }

  /// A file for each entity of a model.
  ///
  /// - Parameter isOfStore: Whether the model comes from a store. A UUID's default, or a date's with a
  ///   fraction of a second, is then not a value that the program chose, but one drawn for the model: each object
  ///   draws its own.
  /// - Throws: `ModelCodegenError` for a name that cannot be written in Swift.
  package static func files(of schema: ModelSchema, isOfStore: Bool = false) throws -> Result {
    let plan = try ModelClassPlan(schema, isOfStore: isOfStore)
    let files = plan.classes.map { described in
      var source = _header()
      source.line()
      ModelClassPrinter.print(described, in: &source)
      return GeneratedFile(name: "\(described.entity).swift", text: source.text)
    }
    return Result(files: files, remarks: plan.remarks)
  }

  /// A file for each version, and one with the migration plan between them.
  ///
  /// Versions that a store cannot distinguish are merged: SwiftData refuses a plan that has both.
  ///
  /// - Parameters:
  /// - versions: From the oldest to the newest.
  /// - name: The base name of the plan.
  /// - Throws: `ModelCodegenError`.
  package static func files(of versions: [Version], name: String) throws -> Result {
    let prefix = typeName(name)
    var remarks: [String] = []
    var kept: [(version: Version, plan: ModelClassPlan)] = []
    for version in versions {
      let plan = try ModelClassPlan(version.schema)
      let hashes = version.schema.entityVersionHashes()
      if let twin = kept.first(where: { $0.version.schema.entityVersionHashes() == hashes }) {
        remarks.append(
          "version '\(version.name)': a store cannot tell it from '\(twin.version.name)', so it is left out")
        continue
      }
      kept.append((version, plan))
      remarks += plan.remarks.map { "version '\(version.name)': \($0)" }
    }
    var files: [GeneratedFile] = []
    let names = kept.indices.map { "\(prefix)SchemaV\($0 + 1)" }
    for (index, (version, plan)) in kept.enumerated() {
      var source = _header()
      source.line()
      source.documentation("Version '\(version.name)'.")
      VersionedSchemaPrinter.print(plan, name: names[index], number: index + 1, in: &source)
      files.append(GeneratedFile(name: "\(names[index]).swift", text: source.text))
    }
    if let last = kept.last {
      var source = _header()
      source.line()
      VersionedSchemaPrinter.printPlan("\(prefix)MigrationPlan", versions: names, in: &source)
      source.line()
      for described in last.plan.classes {
        source.line("typealias \(described.name) = \(names[names.count - 1]).\(described.name)")
      }
      files.append(GeneratedFile(name: "\(prefix)MigrationPlan.swift", text: source.text))
    }
    return Result(files: files, remarks: remarks)
  }

  /// A name for a type from that of a file: letters and digits, with a capital first.
  package static func typeName(_ name: String) -> String {
    let words = name.split { !$0.isLetter && !$0.isNumber }.map { SwiftName.capitalized(String($0)) }
    let joined = words.joined()
    return joined.first?.isLetter ?? false ? joined : "Model\(joined)"
  }

  private static func _header() -> SourceText {
    var source = SourceText()
    source.line("import Foundation")
    source.line("import SwiftData")
    return source
  }
}
