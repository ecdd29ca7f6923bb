import CoreDataModelFiles
import CoreDataModelSchema
import CoreDataToolKit
import Foundation

extension Command {
  /// `coredata store model`.
  static let model = Command(
    CommandSyntax(
      "model", summary: "Write the model that a store carries with it, as an .xcdatamodel.",
      discussion: [
        "Without --output the model's XML goes to standard output. A name that ends in .xcdatamodel gets the directory "
          + "that Xcode and 'coredata model' read; one in .xcdatamodeld, a directory of versions with this one."
      ],
      examples: [
        "coredata store model Books.sqlite --output Books.xcdatamodel", "coredata store model Books.sqlite",
      ],
      options: [
        StoreArguments.json, .output("PATH", "Write there instead of to standard output."), .force,
      ],
      operands: [StoreArguments.store], exitCodes: StoreArguments.exitCodes + [.cannotCreateOutput])
  ) { arguments, environment in
    let input = try StoreInput(arguments.operands[0], model: nil, environment)
    let text: String
    do {
      let (schema, lost) = ModelOutput.expressible(input.model.schema)
      if !lost.isEmpty {
        environment.error("warning: left out, as only code can set such: \(lost.joined(separator: ", ")).\n")
      }
      text = try ModelContentsWriter.write(schema)
    } catch {
      throw ToolFailure(.badInput, "The model in '\(input.name)' cannot be written as XML: \(error).")
    }
    guard let output = arguments.outputPath else {
      try environment.output(
        arguments.has("json")
          ? JSONText.object([("origin", .string(input.model.origin)), ("contents", .string(text))]).text()
            + "\n" : text)
      return
    }
    let written = try ModelOutput.write(
      text, to: output, replaces: arguments.replacesOutputs, environment)
    try environment.output(
      arguments.has("json")
        ? JSONText.object([("origin", .string(input.model.origin)), ("file", .string(written))]).text() + "\n"
        : "The model (\(input.model.origin)) is in \(written).\n")
  }
}

/// Writes a model's XML as a file or as one of Xcode's directories.
enum ModelOutput {
  /// The model without parts that Xcode's format does not support, and a description of those parts.
  static func expressible(_ schema: ModelSchema) -> (schema: ModelSchema, lost: [String]) {
    var (schema, lost) = (schema, [String]())
    for entity in schema.entities.indices {
      for attribute in schema.entities[entity].attributes.indices {
        let name = "\(schema.entities[entity].name).\(schema.entities[entity].attributes[attribute].name)"
        if !schema.entities[entity].attributes[attribute].validations.isEmpty {
          schema.entities[entity].attributes[attribute].validations = []
          lost.append("validation predicates of \(name)")
        }
        if case .data? = schema.entities[entity].attributes[attribute].defaultValue {
          schema.entities[entity].attributes[attribute].defaultValue = nil
          lost.append("the default value of \(name)")
        }
      }
    }
    return (schema, lost)
  }

  /// - Returns: The file that was written.
  static func write(
    _ text: String, to path: String, replaces: Bool, _ environment: ToolEnvironment
  ) throws(ToolFailure) -> String {
    let path = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    let file: String
    switch (path as NSString).pathExtension {
    case "xcdatamodel": file = "contents"
    case "xcdatamodeld":
      let name = ((path as NSString).lastPathComponent as NSString).deletingPathExtension
      file = "\(name).xcdatamodel/contents"
    default:
      try OutputFile(path: path, replaces: replaces, environment).write(text)
      return path
    }
    let directory = try OutputDirectory(path: path, replaces: replaces)
    try directory.write(text, to: file)
    try directory.finish()
    return "\(path)/\(file)"
  }
}
