import CoreDataModelCodegen
import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata model swiftdata`.
  static let swiftdata = Command(
    CommandSyntax(
      "swiftdata", summary: "Write SwiftData's @Model classes for a model.",
      discussion: [
        "The classes open the stores that were written with the model: entities, attributes and relationships keep their "
          + "names and types, so the classes have the names of the entities. Of a model with several versions each becomes "
          + "a VersionedSchema, and a SchemaMigrationPlan leads from one to the next. Parts of a model that SwiftData has no "
          + "words for are named on standard error; most of them change what a store records of its model, which then takes a "
          + "migration."
      ],
      examples: [
        "coredata model swiftdata Books.xcdatamodeld --output Sources/Books",
        "coredata model swiftdata Books.xcdatamodeld --version Books",
      ],
      options: [
        .output("DIRECTORY", "Write the files there; without it, all of them go to standard output."), .force,
        .value("version", "NAME", "Only this version of the model, without a plan."),
        .flag("json", "Write names and texts of the files as JSON; with --output, their paths."),
      ], operands: [modelOperand], exitCodes: [.success, .usage, .badInput, .noInput, .cannotCreateOutput])
  ) { arguments, environment in
    let path = arguments.operands[0]
    let result: SwiftDataCodegen.Result
    do {
      result = try VersionedModel.classes(path, version: arguments.values["version"]?.last)
    } catch let error as ModelCodegenError {
      throw ToolFailure(.badInput, "\(error).")
    }
    for remark in result.remarks { environment.error("warning: \(remark).\n") }
    try SourceFileOutput(result.files.map { ($0.name, $0.text) }).write(
      arguments, environment, none: "the model has no entities")
  }
}

/// The classes of a model's versions.
private enum VersionedModel {
  static func classes(_ path: String, version: String?) throws -> SwiftDataCodegen.Result {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    guard let all = _versions(path) else {
      if let version {
        throw ToolFailure(.usage, "'\(path)' has no versions, so none is called '\(version)'.")
      }
      return try SwiftDataCodegen.files(of: try ModelInput.load(path))
    }
    if let version {
      guard let chosen = all.first(where: { $0.name == version }) else {
        let names = all.map(\.name)
        throw ToolFailure(
          .usage,
          "The model has no version '\(version)'."
            + SpellingSuggestion.question(
              about: version, among: names, or: " It has \(names.joined(separator: ", "))."))
      }
      return try SwiftDataCodegen.files(of: try ModelInput.load(chosen.path))
    }
    guard all.count > 1 else { return try SwiftDataCodegen.files(of: try ModelInput.load(all[0].path)) }
    let versions = try all.map {
      SwiftDataCodegen.Version(name: $0.name, schema: try ModelInput.load($0.path))
    }
    let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
    return try SwiftDataCodegen.files(of: versions, name: name)
  }

  /// The versions in a directory, from the oldest on as far as their names reveal; nil for any other file.
  private static func _versions(_ path: String) -> [ModelVersions.Version]? {
    guard path.hasSuffix(".xcdatamodeld") || path.hasSuffix(".momd"),
      let versions = (try? ModelVersions(path: path))?.versions
    else { return nil }
    return versions.sorted {
      $0.name.compare($1.name, options: [.numeric, .caseInsensitive]) == .orderedAscending
    }
  }
}
